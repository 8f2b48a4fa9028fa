from isotope.core import memory as needs

# Inputs that no job holds: code, queries, what only tells of a change, and what is mapped or
# streamed by design.
UNHELD = {"code", "sql", "templates", "configs", "manifest", "ledgers", "pixels", "features"}
UNHELD |= {"witness", "vocabulary", "summariser", "detector"}
HELD = {"search_dense": 2 * PARAMS["search"]["memory_mb"]}
HELD["search_approximate"] = HELD["search_dense"]
# The shards of a rule are its phase's but here.
SHARDS_OF = {"project_index": "index"}


def memory(rule):
    """What a job of a rule may take, from the sizes of its inputs; see isotope.core.memory."""

    def of(wildcards, input):
        names = needs.NEEDS[rule].reads or [k for k in input.keys() if k not in UNHELD]
        read = {path for name in names for path in listed(input[name])}
        size_mb = sum(os.path.getsize(p) for p in sorted(read)) / 1e6
        n = PARAMS["shards"].get(SHARDS_OF.get(rule, rule.split("_")[0]), 1)
        return needs.mem_mb(rule, size_mb, shards=n, held_mb=HELD.get(rule, 0))

    return of


def listed(paths):
    """One path or several, as a list."""
    return [paths] if isinstance(paths, str) else list(paths)
