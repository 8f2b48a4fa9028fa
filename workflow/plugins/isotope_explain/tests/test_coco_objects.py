"""Objects of the real pictures of COCO are concepts of WordNet."""

from tests.lib.collect.test_pairs_coco import mini

from isotope_explain.objects import match_concepts, read_objects


def test_all_objects_of_the_real_coco_but_stop_signs_are_of_wordnet(
    shared, tmp_path, installed_wordnet
):
    mini(shared, tmp_path)
    images = tmp_path / "collect/images.parquet"
    matched, rejected = match_concepts(read_objects(images, None), installed_wordnet, images)
    assert (matched.height, rejected.height) == (1347, 3)
    assert set(rejected["detail"]) == {"stop_sign.n.01"}
