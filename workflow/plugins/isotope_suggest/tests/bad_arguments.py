"""Bad values of the arguments of this plug-in's commands; see `tests.bad_arguments`."""

from tests.bad_arguments import T, configured

BAD = {
    "suggest": configured("suggest toy --section x")
    | {
        "collection": ["suggest toi --section x", "suggest '' --section x", "suggest --section x"],
        "source": ["suggest toy +", "suggest toy", "suggest toy - --section x"],
        "--section": [
            "suggest toy --section ''",
            f"suggest toy-later --section {T}",
            "suggest toy --section nobody",
            "suggest toy --section x --serve",
        ],
        "--text": [f"suggest toy --text {at}" for at in ("{n}", "{d}", "{bytes}", "/dev/null")],
        "--image": [f"suggest toy --image {at}" for at in ("''", "{n}.jpg", "{d}/x.png", "nobody")],
        "--top": [f"suggest toy --section {T} --top {n}" for n in ("0", "11", "many")],
        "--system": [f"suggest toy --section {T} --system google"],
        "--json": [f"suggest toy --section {T} --json=yes"],
        "--html": [f"suggest toy --section nobody --html {at}" for at in ("{d}", "{f}/below.html")],
        "--serve": ["suggest toy --serve=yes", "suggest toi --serve --port 0"],
        "--assessor": [f"suggest toy --serve --port 0 --assessor {n}" for n in ("''", "../ann")],
        "--host": ["suggest toy --serve --host 0.0.0.0", "suggest toy --serve --host no.host"],
        "--port": [f"suggest toy --serve --port {n}" for n in ("-1", "65536", "http")],
        "--remote": ["suggest toy --serve --remote=yes"],
    },
}
