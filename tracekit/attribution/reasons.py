"""Why something is not known: the only words that the reason columns of `attribution` have."""

from __future__ import annotations

NO_START = "start not known"
NO_CORRELATION = "no correlation id"
NO_LAUNCH = "launch not in the file"
MANY_LAUNCHES = "correlation id of several processes"
NO_OPERATOR = "no operator around the launch"
NOTHING_AROUND = "nothing around the launch"
TOO_MANY = "too many contexts in the file"
NO_MODULES = "no modules in the file"
NO_MODULE = "no module around the operator"
NO_FORWARD = "forward operator not known"
FORWARD_IN_NO_MODULE = "forward operator in no module"
NO_PHASE = "nothing says the phase"
NO_SCOPE = "the operator's name has no scope"
