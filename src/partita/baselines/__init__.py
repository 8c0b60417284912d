"""The other defences, behind the same fit, predict and certify."""
