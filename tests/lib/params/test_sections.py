"""What a section says of its keys."""

from isotope.params.sections import Section


class Described(Section):
    """A section with a key."""

    below: int = 1
    """A text that goes on
    in a second line."""


def test_the_text_below_a_key_is_its_description_in_one_line():
    told = Described.model_json_schema()["properties"]["below"]
    assert told["description"] == "A text that goes on in a second line."
