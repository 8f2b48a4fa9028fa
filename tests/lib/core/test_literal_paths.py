"""A reader of Polars that takes its path for a pattern is named by the lint."""

import polars as pl
import pytest
from tests import literal_paths


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ('pl.read_parquet("a")', ["pl.read_parquet"]),
        ("pl.scan_csv(path, **options)", ["pl.scan_csv"]),
        ("pl.concat(map(pl.read_parquet, paths))", ["pl.read_parquet"]),
        ('pl.scan_ndjson("a")', ["pl.scan_ndjson"]),
        ('pl.read_ipc("a")', ["pl.read_ipc"]),
        ("pl.read_lines(path)", ["pl.read_lines"]),
        ('pl.read_parquet("a", glob=False)', []),
        ('pl.scan_parquet("*.parquet", glob=True)', []),
        ('pq.read_table("a")', []),
    ],
)
def test_a_reader_without_a_word_on_patterns_is_a_fault(tmp_path, line, calls):
    module = tmp_path / "workflow/lib/isotope/core/new.py"
    module.parent.mkdir(parents=True)
    module.write_text(line)
    assert [fault.call for fault in literal_paths.faults(tmp_path)] == calls


def test_the_status_tells_whether_all_is_well(tmp_path, monkeypatch, capsys):
    fault = literal_paths.Fault(tmp_path, 3, "pl.read_csv")
    monkeypatch.setattr(literal_paths, "faults", lambda: [fault])
    assert literal_paths.main() == 1
    assert ":3: pl.read_csv takes its path for a pattern" in capsys.readouterr().out
    monkeypatch.setattr(literal_paths, "faults", list)
    assert literal_paths.main() == 0


def test_polars_takes_brackets_for_a_pattern(tmp_path):
    """When it no longer does, the lint has no use."""
    path = tmp_path / "a[1].parquet"
    pl.DataFrame({"a": [1]}).write_parquet(path)
    with pytest.raises(pl.exceptions.PolarsError):
        pl.read_parquet(path)
    assert pl.read_parquet(path, glob=False).height == 1
