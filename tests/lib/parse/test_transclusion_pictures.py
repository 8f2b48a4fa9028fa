"""Pictures, captions and alternative texts are told by templates' bodies, or else by names."""

import pytest
from tests.transclusion import ENGLISH, pictures, rows, site_of

from isotope.parse.infobox import infobox_at
from isotope.parse.site import Site
from isotope.parse.transclusion import naming

FRENCH = Site.from_siteinfo(
    "https://fr.wikipedia.org/wiki/", "fr", {6: "Fichier", 10: "Modèle"}, "frwiki"
)
RUSSIAN = Site.from_siteinfo(
    "https://ru.wikipedia.org/wiki/", "ru", {6: "Файл", 10: "Шаблон"}, "ruwiki"
)
IMAGE = (
    "{{#invoke:InfoboxImage|InfoboxImage|image={{{view|{{{photo|}}}}}}|size={{{w|}}}"
    "|alt={{{words|}}}}}"
)
INFOBOX = {
    "Infobox": "{{#invoke:Infobox|infobox}}",
    "Place": f"{{{{Infobox|title={{{{{{name}}}}}}|image={IMAGE}|caption={{{{{{said|}}}}}}}}}}",
}


def told(body, site=ENGLISH, **others):
    found = rows({"T": body, **others}, site)["T"]["pictures"]
    return [(one["file"] or one["name"], one["caption"], one["alt"]) for one in found]


def test_arguments_of_a_box_tell_the_roles_of_parameters(tmp_path):
    found = rows(INFOBOX)["Place"]
    assert (found["prints"], found["is_infobox"]) == ("box", True)
    picture = found["pictures"][0]
    assert picture["file"] == ["view", "photo"]
    assert (picture["caption"], picture["alt"], picture["size"]) == (["said"], ["words"], ["w"])
    text = "{{Place|name=Elm|photo=Elm.jpg|said=A ''view'' of [[Elm]]|words=Trees}}\n'''Elm'''"
    assert pictures(site_of(INFOBOX, tmp_path), text) == [("Elm.jpg", "A view of Elm", "Trees")]


def test_roles_are_carried_up_through_templates_that_call_templates():
    bodies = {**INFOBOX, "Town": "{{Place|view={{{bild|}}}|said={{{text|{{{bildtext|}}}}}}}}"}
    (picture,) = rows({**bodies, "Stadt": "->Town"})["Town"]["pictures"]
    assert (picture["file"], picture["caption"]) == (["bild"], ["text", "bildtext"])


@pytest.mark.parametrize(
    ("body", "picture"),
    [
        ("[[File:{{{1}}}|thumb|alt={{{a|}}}|{{{2|}}}]]", (["1"], ["2"], ["a"])),
        ("[[File:{{{1}}}|thumb|{{{width|200px}}}|{{{2|}}}]]", (["1"], ["2"], [])),
        ("[[File:{{{1}}}|{{{2|}}}px|{{{3|}}}]]", (["1"], [], ["3"])),
        ("[[File:{{{1}}}|thumb|upright={{{u|1}}}|left|{{{2}}}]]", (["1"], ["2"], [])),
        ("{{#if:{{{a|}}}|[[File:{{{a}}}|thumb|{{{c|}}}]]}}", (["a"], ["c"], [])),
        ("[[File:{{#if:{{{a|}}}|{{{a}}}|{{{b|}}}}}|thumb|x]]", (["a", "b"], [], [])),
        ("[[File:Map.svg|thumb|{{{1}}}]]", ("Map.svg", ["1"], [])),
    ],
)
def test_a_link_to_a_file_tells_the_roles_of_parameters(body, picture):
    assert told(body) == [picture]


def test_a_name_made_of_words_and_a_parameter_is_no_role():
    assert told("[[File:Flag of {{{1}}}.svg|20px]] {{{1}}}") == []


@pytest.mark.parametrize(
    ("site", "body"),
    [
        (ENGLISH, "{| class='infobox'\n! {{{n}}}\n|-\n| [[File:{{{p}}}|250px]]<br>{{{c|}}}\n"
                  "|-\n| {{{x}}}\n|}"),
        (FRENCH, "<div class='infobox_v3'><div>{{{n}}}</div>[[Fichier:{{{p}}}|280px]]"
                 "<p class='legend'>{{{c|}}}</p><table><tr><td>{{{x|}}}</td></tr></table></div>"),
        (RUSSIAN, "<table class=infobox><tr><th>{{{n}}}</th></tr><tr><td>"
                  "[[Файл:{{{p}}}|{{{w|250px}}}]]"
            "<div class='media-caption'>{{{c|}}}</div></td></tr></table>"),
    ],
)  # fmt: skip
def test_what_stands_in_a_cell_with_a_picture_is_its_caption(site, body):
    found = rows({"T": body}, site)["T"]
    assert found["is_infobox"]
    assert told(body, site) == [(["p"], ["c"], [])]


def test_a_parameter_in_a_tag_is_no_caption():
    inner = "<div style='width:{{{w}}}px'>[[File:{{{1}}}|{{{w}}}px]]</div>"
    body = f"<div class='thumb t{{{{{{side|right}}}}}}'>{inner}</div>"
    assert told(body) == [(["1"], [], [])]


def test_pictures_side_by_side_have_each_their_caption(tmp_path):
    caption = "<div class='thumbcaption'>{{{%d|}}}</div>"
    one = f"<div class='tsingle'>[[File:{{{{{{%d}}}}}}|100px]]{caption}</div>"
    site = site_of({"Pair": f"<div class='thumb'>{one % (1, 2)}{one % (3, 4)}</div>"}, tmp_path)
    text = "{{Pair|A.jpg|An elm|B.jpg|A lark}} x"
    assert pictures(site, text) == [("A.jpg", "An elm", ""), ("B.jpg", "A lark", "")]


def test_a_picture_that_another_template_shows_within_a_box_has_the_caption_of_the_box(tmp_path):
    text = "{{Place|view={{Crop|Elm.jpg|w=10}}|said=The elm}}"
    assert pictures(site_of(INFOBOX, tmp_path), text) == [("Elm.jpg", "The elm", "")]


def test_template_data_tells_pictures_where_a_module_is_not_known(tmp_path):
    data = (
        '<templatedata>{"params": {"vista": {"type": "wiki-file-name", "aliases": ["foto"]},'
        ' "foto pie": {}}}</templatedata>'
    )
    bodies = {"Ficha": "{{#invoke:Unheard of|x}}", "Ficha/doc": data}
    found = rows(bodies)["Ficha"]
    assert found["known_by"].startswith("templatedata")
    assert found["pictures"][0]["file"] == ["vista", "foto"]


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        ("image_skyline=A.png|image_alt=Towers|image_caption=A view|image_flag=F.svg|flag_alt=Red",
         [("A.png", "A view", "Towers"), ("F.svg", "", "Red")]),
        ("image_flag=F.svg|alt_flag=Red|image_map=M.svg|map_caption=Here|alt_map=A map",
         [("F.svg", "", "Red"), ("M.svg", "Here", "A map")]),
        ("Ship image=S.jpg|Ship caption=At sea|Ship image size=300px", [("S.jpg", "At sea", "")]),
        ("static_image_name=E.jpg|static_image_caption=The church|static_image_alt=A tower",
         [("E.jpg", "The church", "A tower")]),
        ("image_photo=P.jpg|image_caption=Seen|imagesize=200", [("P.jpg", "Seen", "")]),
        ("image=P.jpg|image_caption=Seen|image_map=M.svg",
         [("P.jpg", "Seen", ""), ("M.svg", "", "")]),
        ("bild=B.jpg|bildbeschreibung=Ein Haus", [("B.jpg", "Ein Haus", "")]),
        ("image=B.jpg|légende=Une maison", [("B.jpg", "Une maison", "")]),
        ("imagen=B.jpg|pie de imagen=Una casa", [("B.jpg", "Una casa", "")]),
        ("изображение=B.jpg|подпись=Дом|alt_name=Дом 2", [("B.jpg", "Дом", "")]),
        ("画像=B.jpg|画像説明=家", [("B.jpg", "家", "")]),
        ("logo=L.svg|alt_name=The Firm", [("L.svg", "", "")]),
    ],
)  # fmt: skip
def test_without_a_table_names_tell_what_stands_beside_a_picture(arguments, seen):
    assert pictures(ENGLISH, f"{{{{Infobox x|{arguments}}}}}\nx") == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("{{Infobox p|image=Ada.png{{!}}border|caption=Ada}}", [("Ada.png", "Ada", "")]),
        ("{{Infobox p|image=[[File:Ada.png{{!}}frameless{{!}}upright=1.2]]}}",
         [("Ada.png", "", "")]),
        ("{{Infobox p|image={{Photomontage|photo1a=One.jpg{{!}}One|photo1b=Two.jpg}}|caption=All}}",
         [("One.jpg", "All", "One"), ("Two.jpg", "All", "")]),
        ("{{Infobox p|image=Ada.png|caption=Ada {{!}} Lark}}", [("Ada.png", "Ada | Lark", "")]),
        ("{{Infobox p|image=[[File:Ada.png|200px]]|caption=In 1987}}",
         [("Ada.png", "In 1987", "")]),
    ],
)  # fmt: skip
def test_a_bar_by_magic_word_ends_a_name_and_cuts_no_argument(text, seen):
    assert pictures(ENGLISH, text + "\nx") == seen


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("image", naming.PICTURE),
        ("imagesize", naming.SIZE),
        ("image caption", naming.CAPTION),
        ("imagecaption", naming.CAPTION),
        ("alt", naming.ALT),
        ("altitude", naming.OTHER),
        ("alt_name", naming.ALT),
        ("opis zdjęcia", naming.CAPTION),
        ("opis", naming.OTHER),
    ],
)
def test_a_parameters_name_says_what_it_is_for(key, kind):
    assert naming.name_of(key).kind == kind


def test_an_infobox_by_body_is_one_whatever_its_name(tmp_path):
    site = site_of({**INFOBOX, "Note": "'''{{{1}}}'''"}, tmp_path)
    assert infobox_at("x {{Place|name=Elm}}", site.namespaces) == 2
    assert infobox_at("x {{Note|Elm}}", site.namespaces) is None


def test_a_gallery_by_template_has_a_file_and_its_caption_in_turn(tmp_path):
    text = "{{Gallery|File:A.jpg|An ''elm''|B.jpg|alt1=Leaves|A lark|width=100}}\nx"
    seen = [("A.jpg", "An elm", "Leaves"), ("B.jpg", "A lark", "")]
    assert pictures(ENGLISH, text) == seen
    assert pictures(site_of({"Gallery": "{{#invoke:Gallery|gallery}}"}, tmp_path), text) == seen


def test_a_link_that_a_template_helps_to_write_takes_no_caption_of_another(tmp_path):
    text = (
        "{{Infobox x|image={{Crop|A.jpg}}|caption=One|image2=[[File:{{nowrap|B.jpg}}|200px]]"
        "|caption2=Two|image3={{Crop|D.jpg}}|caption3=Three}}\nx"
    )
    seen = [("A.jpg", "One"), ("B.jpg", "Two"), ("D.jpg", "Three")]
    assert [(file, caption) for file, caption, _ in pictures(ENGLISH, text)] == seen
