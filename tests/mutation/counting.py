"""A database that counts stored rows once: no mutant changes what recounts say of them."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from tracekit.engine import Database
from tracekit.limits import Limits
from tracekit.store import Store


class CountingDatabase(Database):
    """A database that keeps what recounts count; ``subject`` names what it has the rows of."""

    def __init__(self, store: Store, limits: Limits) -> None:
        """Open a store."""
        super().__init__(store, limits)
        self.subject = ""
        self._counted = dict[tuple[str, str, str, str], pa.Table]()

    def counted(self, text: str, run_id: str, options: Mapping[str, str | int | None]) -> pa.Table:
        """Return the rows of a recount, as counted before if they were."""
        key = self.subject, text, run_id, str(sorted(options.items()))
        if key not in self._counted:
            self._counted[key] = super().counted(text, run_id, options)
        return self._counted[key]
