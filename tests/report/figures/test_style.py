import pytest

from manyview.report.figures.style import OWN_COLOR, looks


@pytest.mark.parametrize(("are_own", "n_own"), [((False, True), 1), ((True, False, True), 2)])
def test_our_methods_share_a_color_and_differ_otherwise(are_own, n_own):
    given = looks(are_own)
    own = [look for look in given if look.is_own]
    assert [look.is_own for look in given] == list(are_own)
    assert {look.color for look in own} == {OWN_COLOR}
    assert len({(look.marker, look.dashes) for look in own}) == n_own
    assert own[0].dashes == "-"


def test_no_series_stands_out_where_many_are_ours():
    given = looks([True] * 3)
    assert not any(look.is_own for look in given)
    assert len({(look.color, look.marker) for look in given}) == 3
