import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.CharTermAttribute;
import org.apache.lucene.analysis.tokenattributes.OffsetAttribute;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.FSDirectory;

/**
 * Says which terms Lucene sees in texts, where they stand, and how many documents hold each.
 *
 * <p>AnalyzeTexts INDEX TEXTS OUT WORDS: TEXTS has lines `id TAB text`, WORDS is as for
 * BatchSearch, and an empty INDEX is none. OUT begins with the index's numbers of documents and of
 * all their terms; a line `id TAB term TAB documents TAB start TAB end` follows for each term in
 * the order of the texts. Places count Unicode's code points from 0, the end excluded.
 *
 * <p>Compiled by `make java`; the classes lie beside this file, as the runtime has no compiler.
 */
public final class AnalyzeTexts {
  private static final String CONTENTS = "contents";

  private final Analyzer analyzer;
  private final DirectoryReader reader;
  private final Map<String, Integer> documents = new HashMap<>();

  private AnalyzeTexts(Analyzer analyzer, DirectoryReader reader) {
    this.analyzer = analyzer;
    this.reader = reader;
  }

  private int documents(String term) throws IOException {
    Integer known = documents.get(term);
    if (known == null) {
      known = reader == null ? 0 : reader.docFreq(new Term(CONTENTS, term));
      documents.put(term, known);
    }
    return known;
  }

  private void analyze(String id, String text, BufferedWriter out) throws IOException {
    // A stream's places count UTF-16's units, and grow but for synonyms at one place.
    int[] points = new int[text.length() + 1];
    for (int unit = 0, point = 0; unit <= text.length(); unit++) {
      points[unit] = point;
      boolean isWhole = unit < text.length() && !Character.isHighSurrogate(text.charAt(unit));
      point += isWhole ? 1 : 0;
    }
    try (TokenStream words = analyzer.tokenStream(null, text)) {
      CharTermAttribute word = words.addAttribute(CharTermAttribute.class);
      OffsetAttribute place = words.addAttribute(OffsetAttribute.class);
      words.reset();
      while (words.incrementToken()) {
        if (word.length() > 0) {
          String term = word.toString();
          String numbers =
              "\t%d\t%d\t%d\n"
                  .formatted(
                      documents(term), points[place.startOffset()], points[place.endOffset()]);
          out.write(id + "\t" + term + numbers);
        }
      }
      words.end();
    }
  }

  private void analyzeAll(BufferedReader texts, BufferedWriter out) throws IOException {
    long count = reader == null ? 0 : reader.getDocCount(CONTENTS);
    long terms = reader == null ? 0 : reader.getSumTotalTermFreq(CONTENTS);
    out.write(count + "\t" + terms + "\n");
    for (String line = texts.readLine(); line != null; line = texts.readLine()) {
      int tab = line.indexOf('\t');
      analyze(line.substring(0, tab), line.substring(tab + 1), out);
    }
  }

  /** See the class. */
  public static void main(String[] given) throws Exception {
    Path index = given[0].isEmpty() ? null : Path.of(given[0]);
    try (DirectoryReader reader =
            index == null ? null : DirectoryReader.open(FSDirectory.open(index));
        BufferedReader texts = Files.newBufferedReader(Path.of(given[1]));
        BufferedWriter out = Files.newBufferedWriter(Path.of(given[2]), StandardCharsets.UTF_8)) {
      new AnalyzeTexts(BatchSearch.analyzer(given[3]), reader).analyzeAll(texts, out);
    }
  }
}
