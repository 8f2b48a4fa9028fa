import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.analysis.TokenStream;
import org.apache.lucene.analysis.tokenattributes.PositionIncrementAttribute;
import org.apache.lucene.analysis.tokenattributes.TermToBytesRefAttribute;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.BytesRefHash;

/**
 * Counts the terms of texts as Lucene would index them.
 *
 * <p>CountTerms TEXTS TERMS COUNTS THREADS WORDS: TEXTS has, for each text, the number of its bytes
 * and its UTF-8. TERMS gets a line a term, in the order of first appearance. COUNTS gets, for each
 * text, its length as Lucene counts it for norms (terms at new places), the number of its distinct
 * terms, and pairs of a term's number and how often it is there. Numbers are int32, little-endian,
 * and WORDS is as for BatchSearch. Memory holds the distinct terms and some texts for each thread.
 *
 * <p>Compiled by `make java`; the classes lie beside this file, as the runtime has no compiler.
 */
public final class CountTerms {
  private static final int TEXTS_PER_PIECE = 2_000;
  private static final int BYTES_PER_PIECE = 1 << 20;
  private static final int WAITING_PER_THREAD = 4;
  private static final int BUFFER = 1 << 20;

  private final Analyzer analyzer;
  private final BytesRefHash terms = new BytesRefHash();

  private CountTerms(Analyzer analyzer) {
    this.analyzer = analyzer;
  }

  /** The counts of some texts, their terms numbered within the piece. */
  private record Piece(BytesRefHash terms, int[] counts, int size) {}

  private static int number(BytesRefHash terms, BytesRef term) {
    int number = terms.add(term);
    return number < 0 ? -number - 1 : number;
  }

  private Piece count(List<byte[]> texts) throws IOException {
    BytesRefHash own = new BytesRefHash();
    int[] counts = new int[BUFFER >> 4];
    int[] times = new int[TEXTS_PER_PIECE];
    int[] present = new int[TEXTS_PER_PIECE];
    int at = 0;
    for (byte[] text : texts) {
      int length = 0;
      int distinct = 0;
      try (TokenStream words =
          analyzer.tokenStream(null, new String(text, StandardCharsets.UTF_8))) {
        TermToBytesRefAttribute word = words.getAttribute(TermToBytesRefAttribute.class);
        PositionIncrementAttribute step = words.addAttribute(PositionIncrementAttribute.class);
        words.reset();
        while (words.incrementToken()) {
          int number = number(own, word.getBytesRef());
          if (number == times.length) {
            times = Arrays.copyOf(times, 2 * number);
            present = Arrays.copyOf(present, 2 * number);
          }
          if (times[number]++ == 0) {
            present[distinct++] = number;
          }
          length += step.getPositionIncrement() > 0 ? 1 : 0;
        }
        words.end();
      }
      int end = at + 2 + 2 * distinct;
      if (end > counts.length) {
        counts = Arrays.copyOf(counts, Math.max(end, 2 * counts.length));
      }
      counts[at++] = length;
      counts[at++] = distinct;
      for (int i = 0; i < distinct; i++) {
        counts[at++] = present[i];
        counts[at++] = times[present[i]];
        times[present[i]] = 0;
      }
    }
    return new Piece(own, counts, at);
  }

  private void write(Piece piece, OutputStream lines, OutputStream out) throws IOException {
    int[] global = new int[piece.terms.size()];
    BytesRef term = new BytesRef();
    for (int i = 0; i < global.length; i++) {
      int known = terms.size();
      piece.terms.get(i, term);
      global[i] = number(terms, term);
      if (global[i] == known) {
        lines.write(term.bytes, term.offset, term.length);
        lines.write('\n');
      }
    }
    ByteBuffer bytes =
        ByteBuffer.allocate(piece.size * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at < piece.size; ) {
      int distinct = piece.counts[at + 1];
      bytes.putInt(piece.counts[at]).putInt(distinct);
      at += 2;
      for (int end = at + 2 * distinct; at < end; at += 2) {
        bytes.putInt(global[piece.counts[at]]).putInt(piece.counts[at + 1]);
      }
    }
    out.write(bytes.array());
  }

  /** The next text, or null at the end. */
  private static byte[] read(InputStream in) throws IOException {
    byte[] size = in.readNBytes(Integer.BYTES);
    if (size.length == 0) {
      return null;
    }
    int length = ByteBuffer.wrap(size).order(ByteOrder.LITTLE_ENDIAN).getInt();
    byte[] text = in.readNBytes(length);
    if (text.length < length) {
      throw new EOFException("a text of " + length + " bytes ends after " + text.length);
    }
    return text;
  }

  private void countAll(InputStream in, OutputStream lines, OutputStream out, int threads)
      throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    Deque<Future<Piece>> waiting = new ArrayDeque<>();
    try {
      List<byte[]> texts = new ArrayList<>();
      int size = 0;
      for (byte[] text = read(in); text != null; text = read(in)) {
        texts.add(text);
        size += text.length;
        if (texts.size() == TEXTS_PER_PIECE || size >= BYTES_PER_PIECE) {
          List<byte[]> piece = texts;
          waiting.add(pool.submit(() -> count(piece)));
          texts = new ArrayList<>();
          size = 0;
        }
        if (waiting.size() > WAITING_PER_THREAD * threads) {
          write(waiting.remove().get(), lines, out);
        }
      }
      while (!waiting.isEmpty()) {
        write(waiting.remove().get(), lines, out);
      }
      write(count(texts), lines, out);
    } finally {
      pool.shutdownNow();
    }
  }

  /** See the class. */
  public static void main(String[] arguments) throws Exception {
    try (InputStream in =
            new BufferedInputStream(Files.newInputStream(Path.of(arguments[0])), BUFFER);
        OutputStream lines =
            new BufferedOutputStream(Files.newOutputStream(Path.of(arguments[1])), BUFFER);
        OutputStream out = Files.newOutputStream(Path.of(arguments[2]))) {
      new CountTerms(BatchSearch.analyzer(arguments[4]))
          .countAll(in, lines, out, Integer.parseInt(arguments[3]));
    }
  }
}
