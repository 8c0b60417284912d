"""Runs of the smallest size, for several test files."""

from research.sizes import plan_for


def smoke_run(setting):
    return plan_for("smoke", setting.data).runs(setting)[0]
