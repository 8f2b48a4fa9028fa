"""Write the HTML of the test wikis anew: MediaWiki saves their pages, Parsoid renders them.

    python -m tests.wikis.render MEDIAWIKI [WIKI ...]

MEDIAWIKI is the folder of MediaWiki 1.39, whose bundle has Parsoid, ParserFunctions and Scribunto:
Debian's package `mediawiki`, less its links. PHP needs sqlite3, mbstring, xml and intl, Scribunto
needs lua5.1. The wiki of each language is installed in a folder of its own and thrown away.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from tests.wikis import FOLDER, Wiki, names, wiki

SETTINGS = """
foreach ( [ 'ParserFunctions', 'Scribunto', 'Poem', 'Cite', 'TemplateData', 'ImageMap' ] as $e ) {
	wfLoadExtension( $e );
}
$wgScribuntoDefaultEngine = 'luastandalone';
$wgScribuntoEngineConf['luastandalone']['luaPath'] = '/usr/bin/lua5.1';
$wgEnableUploads = true;
$wgGenerateThumbnailOnParse = false;
$wgShowExceptionDetails = true;
// As Wikimedia's own wikis do: Georgian has no title case.
foreach ( range( 0x10D0, 0x10FF ) as $code ) {
	$wgOverrideUcfirstCharacters[mb_chr( $code )] = mb_chr( $code );
}
"""
SIZE = (640, 480)


def render(mediawiki: Path, of: Wiki) -> dict[str, str]:
    """Return what Parsoid makes of each article of a wiki, by title."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "images").mkdir()
        where = ["--confpath", name, "--dbpath", name, "--dbname", "wiki", "--dbtype", "sqlite"]
        web = ["--server", "http://localhost", "--scriptpath", "/w"]
        own = ["--lang", of.language, "--pass", "a longer password", "W", "Admin"]
        install = ["php", str(mediawiki / "maintenance/install.php"), *where, *web, *own]
        subprocess.run(install, check=True, capture_output=True)
        settings = folder / "LocalSettings.php"
        more = f"$wgUploadDirectory = '{name}/images';\n"
        settings.write_text(settings.read_text("utf-8") + SETTINGS + more, "utf-8")
        task = {
            "pages": {**of.pages, **{a.title: a.wikitext for a in of.articles}},
            "files": [str(_drawn(folder, name)) for name in of.files()],
            "articles": [a.title for a in of.articles],
        }
        env = {**os.environ, "MW_CONFIG_FILE": str(settings), "MEDIAWIKI": str(mediawiki)}
        run = ["php", str(FOLDER / "render.php")]
        done = subprocess.run(
            run, check=False, input=json.dumps(task), env=env, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"{of.name}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)


def _stored(html: str, of: Wiki) -> str:
    """Return a page with a head that tells, in place of the time, what it was made of."""
    head = f'<head><meta charset="utf-8"/><meta name="made-of" content="{of.digest}"/></head>'
    return re.sub(r"<head.*?</head>", head, html, flags=re.DOTALL) + "\n"


def _drawn(folder: Path, file: str) -> Path:
    path = folder / file.replace(" ", "_")
    Image.new("RGB", SIZE, (len(file) % 256, sum(file.encode()) % 256, 90)).save(path)
    return path


def main(mediawiki: Path, *only: str) -> None:
    """Write the HTML of all wikis, or of those named."""
    for name in only or names():
        of = wiki(name)
        for title, html in render(mediawiki, of).items():
            path = of.html_path(title)
            path.parent.mkdir(exist_ok=True)
            path.write_text(_stored(html, of), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
