"""Ways to direct a live run from outside, as data: put into its inbox, and taken up by the process that drives it."""

import msgspec


class Cancel(msgspec.Struct, frozen=True, tag_field="command", tag="cancel"):
    """Stop: start nothing more, break off what is on the wire, keep all that is finished."""


Command = Cancel
