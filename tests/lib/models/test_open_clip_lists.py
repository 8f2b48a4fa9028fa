"""What open_clip's files say is what open_clip says."""

import open_clip

from isotope.models import open_clip_files

NAMES = open_clip_files.architectures()


def test_every_model_of_open_clip_is_known_with_all_its_tags():
    assert set(NAMES) <= set(open_clip.list_models())
    assert len(NAMES) > 100
    assert {"ViT-S-32-alt", "ViT-B-32"} <= set(NAMES)
    for name in {*NAMES, *(name for name, _ in open_clip.list_pretrained())}:
        assert open_clip_files.tags(name) == open_clip.list_pretrained_tags_by_model(name), name


def test_whose_tokenizer_a_model_reads_with_is_as_open_clip_chooses(monkeypatch):
    for kind in ("HFTokenizer", "SigLipTokenizer"):
        monkeypatch.setattr(open_clip.factory, kind, lambda *_, **__: "another's")
    monkeypatch.setattr(open_clip.factory, "SimpleTokenizer", lambda *_, **__: "its own")
    chosen: dict[str, object] = {name: open_clip.get_tokenizer(name) for name in NAMES}
    assert set(chosen.values()) == {"another's", "its own"}
    own = {name for name, reader in chosen.items() if reader == "its own"}
    assert own == {n for n in NAMES if open_clip_files.tokenizer(n) is None}
    assert len(NAMES) > len(own) > 50
