import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopFieldCollector;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Answers what Anserini's SearchCollection answers for BM25, in a quarter of its time or less.
 *
 * <p>SearchCollection reads each hit's id out of compressed stored fields, scores it twice, and
 * formats it by pattern. The id and the score are in hand already: Anserini breaks ties by the id, so
 * Lucene's sort carries both. Analyzer, query, ranking and the tie rule are Anserini's (1.7.1), and
 * so are the scores, digit by digit.
 *
 * <p>BatchSearch INDEX TOPICS OUT HITS THREADS K1 B WORDS: TOPICS has lines `id TAB text`, OUT gets
 * lines `id TAB document TAB score in millionths` in their order, and WORDS is `spaces`, `default`
 * or a language of Anserini's AnalyzerMap.
 *
 * <p>Compiled by `make java`; the class lies beside this file, as the runtime has no compiler.
 */
public final class BatchSearch {
  private static final String ID = "id";
  private static final String CONTENTS = "contents";
  private static final Sort ORDER =
      new Sort(SortField.FIELD_SCORE, new SortField(ID, SortField.Type.STRING_VAL));
  private static final int WAITING_PER_THREAD = 64;
  // Measured: from about this share of the documents on, skipping costs more than it saves.
  private static final double EXHAUSTIVE_SHARE = 0.01;

  private final IndexSearcher searcher;
  private final Analyzer analyzer;
  private final int hits;
  private final boolean exhaustive;

  private BatchSearch(IndexSearcher searcher, Analyzer analyzer, int hits) {
    int documents = searcher.getIndexReader().maxDoc();
    this.searcher = searcher;
    this.analyzer = analyzer;
    this.hits = Math.min(hits, Math.max(1, documents));
    this.exhaustive = hits >= EXHAUSTIVE_SHARE * documents;
  }

  /** Anserini's classes are newer than the compiler need be, so they are called by name. */
  private static Analyzer analyzer(String words) throws ReflectiveOperationException {
    if (words.equals("spaces")) {
      return new WhitespaceAnalyzer();
    }
    String place = "io.anserini.analysis.";
    if (words.equals("default")) {
      Class<?> english = Class.forName(place + "DefaultEnglishAnalyzer");
      return (Analyzer) english.getMethod("newDefaultInstance").invoke(null);
    }
    Class<?> map = Class.forName(place + "AnalyzerMap");
    return (Analyzer)
        map.getMethod("getLanguageSpecificAnalyzer", String.class).invoke(null, words);
  }

  /** A bag of words, as Anserini's BagOfWordsQueryGenerator makes it. */
  private Query query(String text) throws IOException {
    Map<String, Integer> counts = new HashMap<>();
    try (TokenStream words = analyzer.tokenStream(null, text)) {
      CharTermAttribute word = words.addAttribute(CharTermAttribute.class);
      words.reset();
      while (words.incrementToken()) {
        if (word.length() > 0) {
          counts.merge(word.toString(), 1, Integer::sum);
        }
      }
      words.end();
    }
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    counts.forEach(
        (word, count) -> {
          Query one = new TermQuery(new Term(CONTENTS, word));
          all.add(new BoostQuery(one, count), BooleanClause.Occur.SHOULD);
        });
    return all.build();
  }

  private TopDocs search(Query query) throws IOException {
    int counted = exhaustive ? Integer.MAX_VALUE : hits;
    return searcher.search(query, TopFieldCollector.createSharedManager(ORDER, hits, null, counted));
  }

  /** The lines of one query; scores that tie at four digits go down by a millionth each. */
  private byte[] answer(String id, String text) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] start = (id + "\t").getBytes(StandardCharsets.UTF_8);
    float last = Float.POSITIVE_INFINITY;
    int ties = 0;
    for (ScoreDoc hit : search(query(text)).scoreDocs) {
      Object[] sorted = ((FieldDoc) hit).fields;
      BytesRef document = (BytesRef) sorted[1];
      // ScoreTiesAdjusterReranker, in its order of single and double precision.
      float score = (float) (Math.round((Float) sorted[0] * 10000.0) / 10000.0);
      ties = last - score > 1e-4f ? 0 : ties + 1;
      score -= 1e-6f * ties;
      last = score;
      out.write(start);
      out.write(document.bytes, document.offset, document.length);
      String millionths = "\t" + Math.round(score * 1e6) + "\n";
      out.write(millionths.getBytes(StandardCharsets.US_ASCII));
    }
    return out.toByteArray();
  }

  private void answerAll(BufferedReader topics, OutputStream out, int threads) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    Deque<Future<byte[]>> waiting = new ArrayDeque<>();
    try {
      for (String line = topics.readLine(); line != null; line = topics.readLine()) {
        int tab = line.indexOf('\t');
        String id = line.substring(0, tab);
        String text = line.substring(tab + 1);
        waiting.add(pool.submit(() -> answer(id, text)));
        if (waiting.size() > WAITING_PER_THREAD * threads) {
          out.write(waiting.remove().get());
        }
      }
      while (!waiting.isEmpty()) {
        out.write(waiting.remove().get());
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /** See the class. */
  public static void main(String[] given) throws Exception {
    try (DirectoryReader reader = DirectoryReader.open(FSDirectory.open(Path.of(given[0])));
        BufferedReader topics = Files.newBufferedReader(Path.of(given[1]));
        OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(given[2])))) {
      IndexSearcher searcher = new IndexSearcher(reader);
      // Who asks cuts long queries; an analyzer that makes two terms of a word must not stop the rest.
      IndexSearcher.setMaxClauseCount(Integer.MAX_VALUE);
      float k1 = Float.parseFloat(given[5]);
      searcher.setSimilarity(new BM25Similarity(k1, Float.parseFloat(given[6])));
      int hits = Integer.parseInt(given[3]);
      new BatchSearch(searcher, analyzer(given[7]), hits)
          .answerAll(topics, out, Integer.parseInt(given[4]));
    }
  }
}
