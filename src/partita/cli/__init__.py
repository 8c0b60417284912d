"""The command line: one module per command, thin; the work is done in the other packages.

``_app`` puts the commands together, ``_options`` has the options that several commands share, and
``_inputs`` turns them into what the workflow takes. What goes wrong becomes one sentence and an
exit code in ``partita.__main__``. Command modules import the work late: ``--help`` must be quick.
"""
