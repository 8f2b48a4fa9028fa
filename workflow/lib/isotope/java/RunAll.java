import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Runs a program several times in one Java, which takes longer to start than most runs do.
 *
 * <p>RunAll: a line of standard input is a class with a main method, and its arguments, with tabs
 * between. The line `RunAll: done` follows what a run prints. The first that fails ends all.
 *
 * <p>Compiled by `make java`; the classes lie beside this file, as the runtime has no compiler.
 */
public final class RunAll {
  private RunAll() {}

  /** See the class. */
  public static void main(String[] given) throws Throwable {
    BufferedReader runs =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = runs.readLine(); line != null; line = runs.readLine()) {
      String[] words = line.split("\t", -1);
      String[] arguments = Arrays.copyOfRange(words, 1, words.length);
      Method program = Class.forName(words[0]).getMethod("main", String[].class);
      try {
        program.invoke(null, (Object) arguments);
      } catch (InvocationTargetException failure) {
        throw failure.getCause();
      }
      System.err.flush();
      System.out.println("RunAll: done");
      System.out.flush();
    }
  }
}
