"""Lists of words, written as text: what a format calls things is read more easily so."""


def words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())
