"""Other people's error messages, made fit for one of ours."""

LONGEST = 200


def one_line(exc: BaseException) -> str:
    """The first line of an error's message, cut to a readable length; its class if it has none."""
    message = str(exc).strip()
    return (message or type(exc).__name__).splitlines()[0][:LONGEST]
