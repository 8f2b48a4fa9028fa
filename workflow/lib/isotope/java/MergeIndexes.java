import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SlowCodecReaderWrapper;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.IOUtils;

/**
 * Makes one index, of one segment, of several whose documents follow each other.
 *
 * <p>Postings, lengths, ids and stored fields are taken over as they are, and nothing is analysed
 * again; document frequencies are counted anew. So a word weighs what it weighs in an index that
 * Anserini's IndexCollection (1.7.1, with -optimize) builds of all documents at once.
 *
 * <p>MergeIndexes INDEX PART...: in the order of the parts, which stay as they are.
 *
 * <p>Compiled by `make java`; the classes lie beside this file, as the runtime has no compiler.
 */
public final class MergeIndexes {
  private MergeIndexes() {}

  /** See the class. */
  public static void main(String[] given) throws Exception {
    // As Anserini's indexer has it; analyzer and similarity are for documents that are new.
    IndexWriterConfig config = new IndexWriterConfig().setUseCompoundFile(false);
    config.getMergePolicy().setNoCFSRatio(0);
    config.setOpenMode(IndexWriterConfig.OpenMode.CREATE).setCommitOnClose(false);
    List<DirectoryReader> opened = new ArrayList<>();
    try (IndexWriter writer = new IndexWriter(FSDirectory.open(Path.of(given[0])), config)) {
      List<CodecReader> segments = new ArrayList<>();
      for (int part = 1; part < given.length; part++) {
        DirectoryReader reader = DirectoryReader.open(FSDirectory.open(Path.of(given[part])));
        opened.add(reader);
        for (LeafReaderContext leaf : reader.leaves()) {
          segments.add(SlowCodecReaderWrapper.wrap(leaf.reader()));
        }
      }
      // Not the directories: their segments would be copied, then merged by size and not in order.
      writer.addIndexes(segments.toArray(new CodecReader[0]));
      writer.forceMerge(1);
      writer.commit();
    } finally {
      IOUtils.close(opened);
    }
  }
}
