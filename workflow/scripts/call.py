import signal

from isotope.core.progress import logged
from isotope.plan import call

# A job's processes may import this file again.
if __name__ == "__main__":
    with logged(snakemake.log[0], snakemake.rule):
        call.run(snakemake)
    # All is written; what is left is the interpreter's end, where Ctrl-C would leave a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
