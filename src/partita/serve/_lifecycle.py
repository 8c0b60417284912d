"""From ready to stopped: first /ready fails, then new requests are refused, then nothing is left.

Between the first two steps a load balancer has time to notice, and no request is refused.
"""


class Lifecycle:
    """Whether new requests are welcome.

    Attributes
    ----------
    ready : bool
        What /ready says.
    refuses_new : bool
        Whether new requests are refused.
    """

    def __init__(self) -> None:
        self.ready, self.refuses_new = True, False

    def stop_being_ready(self) -> None:
        """Tell load balancers to look elsewhere; requests are still answered."""
        self.ready = False

    def refuse_new(self) -> None:
        """Refuse requests that begin from now on."""
        self.ready, self.refuses_new = False, True
