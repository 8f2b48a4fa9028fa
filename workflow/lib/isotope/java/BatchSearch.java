import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TermStates;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.Collector;
import org.apache.lucene.search.FieldDoc;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.LeafCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.Scorable;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopFieldCollector;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.BytesRef;

/**
 * Answers what Anserini's SearchCollection answers for BM25, in a quarter of its time or less.
 *
 * <p>SearchCollection reads each hit's id out of compressed stored fields, scores it twice, and
 * formats it by pattern. Id and score are in hand already: Anserini breaks ties by the id, so the
 * sort of Lucene carries both. Analyzer, query, ranking and the tie rule are Anserini's (1.7.1),
 * and so are the scores, digit by digit.
 *
 * <p>BatchSearch INDEX TOPICS OUT HITS THREADS K1 B WORDS: TOPICS has lines `id TAB text`, OUT gets
 * lines `id TAB document TAB score in millionths` in their order, and WORDS is `spaces`, `default`
 * or a language of Anserini's AnalyzerMap.
 *
 * <p>Compiled by `make java`; the classes lie beside this file, as the runtime has no compiler.
 */
public final class BatchSearch {
  private static final String ID = "id";
  private static final String CONTENTS = "contents";
  private static final Sort ORDER =
      new Sort(SortField.FIELD_SCORE, new SortField(ID, SortField.Type.STRING_VAL));
  private static final int WAITING_PER_THREAD = 64;
  // Measured: from about this share of the documents on, skipping costs more than it saves.
  private static final double EXHAUSTIVE_SHARE = 0.01;
  private static final int FEW = 8;
  // Sums of floats in another order may differ by less.
  private static final float ROUNDING = 1 - 1e-5f;

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
  static Analyzer analyzer(String words) throws ReflectiveOperationException {
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

  /**
   * The bag of words that Anserini's BagOfWordsQueryGenerator makes, less what no document holds:
   * each with the number of documents that do.
   */
  private List<Map.Entry<Query, Integer>> clauses(String text) throws IOException {
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
    List<Map.Entry<Query, Integer>> found = new ArrayList<>();
    for (Map.Entry<String, Integer> entry : counts.entrySet()) {
      Term term = new Term(CONTENTS, entry.getKey());
      TermStates states = TermStates.build(searcher, term, true);
      if (states.docFreq() > 0) {
        Query query = new BoostQuery(new TermQuery(term, states), entry.getValue());
        found.add(Map.entry(query, states.docFreq()));
      }
    }
    return found;
  }

  private static Query any(List<Map.Entry<Query, Integer>> clauses) {
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    clauses.forEach(clause -> all.add(clause.getKey(), BooleanClause.Occur.SHOULD));
    return all.build();
  }

  private ScoreDoc[] search(List<Map.Entry<Query, Integer>> clauses) throws IOException {
    Query query = any(clauses);
    int counted = exhaustive ? Integer.MAX_VALUE : hits;
    TopFieldCollector best = TopFieldCollector.create(ORDER, hits, counted);
    float floor = exhaustive || hits > FEW ? 0 : floor(clauses, query);
    searcher.search(query, floor > 0 ? new AtLeast(best, floor) : best);
    return best.topDocs().scoreDocs;
  }

  /** A score that as many documents reach as are asked for: those best by the rarest terms do. */
  private float floor(List<Map.Entry<Query, Integer>> clauses, Query query) throws IOException {
    List<Map.Entry<Query, Integer>> rare = new ArrayList<>(clauses);
    rare.sort(Map.Entry.comparingByValue());
    Query rarest = any(rare.subList(0, Math.min(FEW, rare.size())));
    ScoreDoc[] found = searcher.search(rarest, hits).scoreDocs;
    if (found.length < hits) {
      return 0;
    }
    TopFieldCollector.populateScores(found, searcher, query);
    float least = Float.POSITIVE_INFINITY;
    for (ScoreDoc hit : found) {
      least = Math.min(least, hit.score);
    }
    return least * ROUNDING;
  }

  /** Lets the search skip what scores below a floor, from the first document on. */
  private static final class AtLeast extends Scorable implements Collector, LeafCollector {
    private final Collector best;
    private final float floor;
    private LeafCollector leaf;
    private Scorable scorer;

    AtLeast(Collector best, float floor) {
      this.best = best;
      this.floor = floor;
    }

    @Override
    public LeafCollector getLeafCollector(LeafReaderContext context) throws IOException {
      leaf = best.getLeafCollector(context);
      return this;
    }

    @Override
    public ScoreMode scoreMode() {
      return best.scoreMode();
    }

    @Override
    public void setScorer(Scorable given) throws IOException {
      scorer = given;
      setMinCompetitiveScore(floor);
      leaf.setScorer(this);
    }

    @Override
    public void setMinCompetitiveScore(float score) throws IOException {
      scorer.setMinCompetitiveScore(Math.max(score, floor));
    }

    @Override
    public void collect(int document) throws IOException {
      leaf.collect(document);
    }

    @Override
    public float score() throws IOException {
      return scorer.score();
    }

    @Override
    public int docID() {
      return scorer.docID();
    }
  }

  /** The lines of one query; scores that tie at four digits go down by a millionth each. */
  private byte[] answer(String id, String text) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    byte[] start = (id + "\t").getBytes(StandardCharsets.UTF_8);
    float last = Float.POSITIVE_INFINITY;
    int ties = 0;
    for (ScoreDoc hit : search(clauses(text))) {
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
      // Who asks cuts long queries; an analyzer that makes two terms of a word must not stop all.
      IndexSearcher.setMaxClauseCount(Integer.MAX_VALUE);
      float k1 = Float.parseFloat(given[5]);
      searcher.setSimilarity(new BM25Similarity(k1, Float.parseFloat(given[6])));
      int hits = Integer.parseInt(given[3]);
      new BatchSearch(searcher, analyzer(given[7]), hits)
          .answerAll(topics, out, Integer.parseInt(given[4]));
    }
  }
}
