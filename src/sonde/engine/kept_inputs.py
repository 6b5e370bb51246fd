"""Inputs as the record keeps them, and those of an earlier life again."""

from sonde.documents.attach import Input, Inputs, reattach
from sonde.engine.folder import RunFolder
from sonde.events import InputAttached
from sonde.guest.files import Mark
from sonde.views.summary import Summary


def as_fact(attached: Input, folder: RunFolder) -> InputAttached:
    """Return an input as it is recorded; one in the run's own folder by its path there."""
    path, found = attached.path, attached.found
    if path.is_relative_to(folder.path):
        path = path.relative_to(folder.path)
    return InputAttached(
        name=attached.name,
        source=attached.source,
        path=str(path),
        size=attached.mark.size,
        chars=found.blocks.chars[-1],
        lines=found.blocks.lines[-1] + found.blocks.open_end,
        changed_ns=attached.mark.changed_ns,
        invalid_bytes=found.invalid_bytes,
    )


def again(summary: Summary, folder: RunFolder) -> Inputs:
    """Return the inputs that a record tells of. Raises `InputChanged` if one is not what it was."""
    inputs = [
        reattach(
            fact.name,
            fact.source,
            folder.path / fact.path,
            Mark(fact.source, fact.size, fact.changed_ns),
        )
        for fact in summary.inputs
    ]
    return Inputs(inputs, [])
