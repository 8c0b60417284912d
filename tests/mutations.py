"""Plant unsound bugs one at a time in a copy of the source: the tests must fail each time.

    make mutations        (or: python tests/mutations.py [a word of a bug's name] ...)
    python tests/mutations.py --today      a tenth of them, another every day, for 10 minutes

Every bug here would make some certificate false. It is caught if one of the tests named beside it
fails; a bug that no test catches, and a bug whose line is no longer there, end the program with an
error: then a test is missing, or this list is out of date."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
TODAY_SECONDS = 480  # after these no further bug is planted
AT_ONCE = os.cpu_count() or 1
LEFT = "left for want of time"
RULES = "tests/exhaustive/test_rules.py"
REACH = "tests/exhaustive/test_reach.py"
KERNELS = "tests/exhaustive/test_kernels.py"
OVERLAP = "tests/rules/test_overlap.py"
COLLECTIVE = "tests/exhaustive/test_collective.py"
AGREEMENT = "tests/exhaustive/test_agreement.py"
LEAVE_OUT = "tests/partition/test_leave_out.py"
LEFT_OUT_PROOF = "tests/test_leave_out_proof.py"
MASKS = "tests/tables/test_masking.py"
MASKED = "tests/ensemble/test_masked_training.py"
GATE = "tests/exhaustive/test_gate.py"
SILENCE = "tests/exhaustive/test_silence.py"
SILENT_GROUPS = "tests/exhaustive/test_silent_groups.py"
SILENT_SOURCES = "tests/ensemble/test_silent_sources.py"
FRONTIER = "tests/rules/test_frontier.py"
CERTIFIER = "tests/serve/test_certifier.py"
BATCHING = "tests/serve/test_batching.py"
OTHERS = "tests/serve/test_service_of_other_estimators.py"
PARTIES = "tests/exhaustive/test_parties.py"
ASKING = "tests/serve/federation/test_asking.py"
FEDERATION = "tests/serve/federation/test_federation.py"
PARTY_ROWS = "tests/serve/federation/test_party_ballots.py"
PARTY_LIST = "tests/serve/federation/test_parties.py"
PARTY_PLACES = "tests/serve/federation/test_party_places.py"
WINDOWS = "tests/exhaustive/test_windows.py"
REFITS = "tests/attacks/test_poisoning_of_any_model.py"
EVADED = "tests/attacks/test_evasion_of_any_model.py"
STRESSED = "tests/attacks/test_stress.py"
LABEL_SETS = "tests/exhaustive/test_label_sets.py"


@dataclass(frozen=True)
class Bug:
    """A line, what it becomes, and the tests that should notice."""

    name: str
    file: str
    line: str
    instead: str
    tests: tuple[str, ...]

    def path(self, root: Path) -> Path:
        """Return where the file is in a copy of the repository."""
        return root / (
            self.file if self.file.startswith("research/") else f"src/partita/{self.file}"
        )


BUGS = [
    # ---- what is right, and faults that would look harmless ----
    Bug(
        "scorer: right at the tolerance by distance, not as certificates have it",
        "attacks/_any_model.py",
        "        return np.asarray(self.statement.holds(np.asarray(prediction)))",
        "        if self.tolerance is not None:\n"
        "            return np.abs(np.asarray(prediction) - self.y) <= self.tolerance\n"
        "        return np.asarray(self.statement.holds(np.asarray(prediction)))",
        ("tests/attacks/test_scorer.py",),
    ),
    Bug(
        "fault: the sources that matter least are taken",
        "attacks/_any_model.py",
        'order = np.argsort(shares, kind="stable")',
        'order = np.argsort(-np.array(shares), kind="stable")',
        ("tests/attacks/test_faults.py",),
    ),
    # ---- off by one, wrong ties, min for max ----
    Bug(
        "gap: one submodel too many",
        "kernels/compiled.py",
        "return taken + budget // loss",
        "return taken + budget // loss + 1",
        (RULES,),
    ),
    Bug(
        "plurality: a tie taken for a win",
        "kernels/compiled.py",
        "radius[i] = gap_radius(losses, counts[y] - counts[z] - (z < y))",
        "radius[i] = gap_radius(losses, counts[y] - counts[z])",
        (RULES,),
    ),
    Bug(
        "tournament: a tie taken for a win",
        "kernels/compiled.py",
        "            gap = gaps[y, z] - (z < y)\n            reach",
        "            gap = gaps[y, z]\n            reach",
        (RULES,),
    ),
    Bug(
        "tournament: the farthest label instead of the nearest",
        "kernels/compiled.py",
        "if nearest < 0 or reach < least or",
        "if nearest < 0 or reach > least or",
        (RULES,),
    ),
    Bug(
        "tournament: a corrupted submodel costs its vote, not that and a full one",
        "kernels/compiled.py",
        "losses[0], losses[2] = wins[z, y], wins[y, z]",
        "losses[0], losses[1] = wins[z, y], wins[y, z]",
        (RULES,),
    ),
    Bug(
        "run-off: one of its two ways to fall is forgotten",
        "kernels/compiled.py",
        "            least = min(least, dp(first, second))",
        "            least = min(least, dp(first, second) + 1)",
        (RULES,),
    ),
    Bug(
        "median: even numbers of votes",
        "kernels/compiled.py",
        "tie = 1 - n_submodels % 2  #",
        "tie = 0  #",
        (RULES,),
    ),
    Bug(
        "median over units: even numbers of votes",
        "kernels/compiled.py",
        "        budgets[i, 1] -= 1 - n_submodels % 2",
        "        budgets[i, 1] -= 0",
        (REACH,),
    ),
    Bug(
        "interval: one vote too narrow",
        "rules/_median.py",
        "ordered[:, middle - radius]",
        "ordered[:, middle - radius + 1]",
        (RULES, "tests/ensemble/test_regressor.py"),
    ),
    Bug(
        "stretch: votes certified as they are, and predicted stretched",
        "rules/_median.py",
        "values, low, high = self.check_bounds(votes, lower, upper)\n        prediction",
        "values, low, high = self.check_bounds(votes, lower, upper)\n"
        "        values = as_values(votes)\n        prediction",
        ("tests/ensemble/test_regressor.py", RULES),
    ),
    # ---- units that reach several submodels ----
    Bug(
        "reach: the smallest reaches added up",
        "rules/_overlap.py",
        "np.sort(self.sizes)[::-1][:n_units].sum()",
        "np.sort(self.sizes)[:n_units].sum()",
        (REACH, "tests/test_proof.py"),
    ),
    Bug(
        "overlap: a shift is left out",
        "partition/_partition.py",
        "for shift in self.shifts], axis=0))",
        "for shift in self.shifts[:1]], axis=0))",
        (REACH, "tests/partition/test_partition.py", "tests/test_proof.py"),
    ),
    Bug(
        "patches: a patch is taken for a smaller one",
        "patches.py",
        "sliding_window_view(owned, tall, axis=0)",
        "sliding_window_view(owned, max(1, tall - 1), axis=0)",
        ("tests/test_patches.py",),
    ),
    Bug(
        "patch partition: patches that overlap",
        "partition/_partition.py",
        "return Partition([np.flatnonzero(owner == t).tolist() for t in range(n_submodels)])",
        "return Partition([np.flatnonzero((owner == t) | (owner == t + 1)).tolist() for t in "
        "range(n_submodels)])",
        ("tests/partition/test_strategies.py",),
    ),
    Bug(
        "what all but one submodel cannot break is certified against all units",
        "ensemble/_base.py",
        "np.where(proof.radius == proof.counts.total, self.counts_.total, proof.radius)",
        "np.where(proof.radius >= proof.counts.total - 1, self.counts_.total, proof.radius)",
        ("tests/ensemble/test_classifier.py",),
    ),
    # ---- submodels that are tied together ----
    Bug(
        "a scaler for all columns",
        "ensemble/_base.py",
        "        table = self._open(X, reset=True)\n",
        "        table = self._open(X, reset=True)\n"
        "        if isinstance(X, np.ndarray) and X.dtype.kind == 'f':\n"
        "            table = open_table(X / np.nanmax(np.abs(X)))\n",
        ("tests/test_proof.py", "tests/ensemble/test_isolation.py", "tests/attacks/test_audit.py"),
    ),
    Bug(
        "rows assigned by what they hold",
        "ensemble/_base.py",
        "        owner = plan.owner(table.n_rows)\n",
        "        owner = plan.owner(table.n_rows)\n"
        "        if owner is not None:\n"
        "            owner = np.array([hash(str(table.take([0], np.array([i])))) % len(plan) for "
        "i in range(table.n_rows)])\n",
        ("tests/ensemble/test_target.py", "tests/attacks/test_audit.py"),
    ),
    Bug(
        "one seed after another from a shared generator",
        "ensemble/_plan.py",
        "drawn = np.random.SeedSequence(seed, spawn_key=(t,)).generate_state",
        "drawn = np.random.SeedSequence(np.random.randint(2**31), spawn_key=(t,)).generate_state",
        ("tests/ensemble/test_plan.py", "tests/test_proof.py", "tests/attacks/test_audit.py"),
    ),
    Bug(
        "columns as they lie in memory",
        "tables/_table.py",
        "return _copy_by_column(part.to_native())",
        "return part.clone().to_native()",
        ("tests/tables/test_memory.py", "tests/ensemble/test_isolation.py"),
    ),
    Bug(
        "a submodel may write into the table",
        "tables/_table.py",
        "            return _copy_by_column(part.to_native())\n"
        "        return part.clone().to_native()",
        "            return part.to_native()\n        return part.to_native()",
        ("tests/tables/test_memory.py", "tests/ensemble/test_isolation.py"),
    ),
    Bug(
        "networks share the length of their gradients",
        "vision/_pixel_sets.py",
        "scale, lost = squares.sqrt()",
        "squares = squares.sum().expand_as(squares)\n    scale, lost = squares.sqrt()",
        ("tests/vision/test_training.py",),
    ),
    Bug(
        "cells: the mask of another submodel",
        "vision/_cell_sets.py",
        "images[:, self._pixels[submodel]] = ",
        "images[:, self._pixels[submodel - 1].repeat(2)[: own.shape[1]]] = ",
        ("tests/vision/test_cell_sets.py",),
    ),
    Bug(
        "cells: the pixels of another submodel at prediction",
        "vision/_cell_sets.py",
        "images[start : start + batch_size, self.sets[t]]",
        "images[start : start + batch_size, [*self.sets[t][1:], self.sets[t - 1][0]]]",
        ("tests/vision/test_cell_sets.py",),
    ),
    Bug(
        "cells: networks side by side share the statistics of a batch",
        "vision/_cell_sets.py",
        "        normed = F.batch_norm(\n            x,\n",
        "        normed = F.batch_norm(\n            x - x.mean() if self.training else x,\n",
        ("tests/vision/test_cell_networks.py",),
    ),
    Bug(
        "cells: one running mean for all networks side by side",
        "vision/_cell_sets.py",
        "        return F.celu(normed, CELU_ALPHA)",
        '        mean = getattr(self, f"mean_{name}").data.view(self.count, -1)\n'
        "        mean.copy_(mean.mean(dim=0).expand_as(mean))\n"
        "        return F.celu(normed, CELU_ALPHA)",
        ("tests/vision/test_cell_training.py",),
    ),
    Bug(
        "cells: statistics outlive a network",
        "vision/_cell_sets.py",
        "        _join([model.networks[k] for k in group], networks)\n",
        "        kept = {name: value.clone() for name, value in networks.named_buffers()}\n"
        "        _join([model.networks[k] for k in group], networks)\n"
        "        networks.load_state_dict(kept, strict=False)\n",
        ("tests/vision/test_cell_training.py",),
    ),
    Bug(
        "cells: images augmented before they are masked",
        "vision/_cell_sets.py",
        "        return self.images[:, self.model.sets[network // self.model.config.members]]",
        "        own = self.model.sets[network // self.model.config.members]\n"
        "        return np.roll(self.images, 1, axis=1)[:, own]",
        ("tests/vision/test_cell_training.py",),
    ),
    Bug(
        "cells: a network trained on the pixels of all",
        "vision/_cell_sets.py",
        "masked = model.masked(own[chosen], network // config.members)",
        "masked = model.masked(own[chosen], network // config.members)\n"
        "                masked[..., 0] += float(self.images[:, :, 0].mean()) / 255",
        ("tests/vision/test_cell_training.py",),
    ),
    Bug(
        "cells: stored networks look at pixels that are not checked",
        "vision/_serialization.py",
        '    if facts["sets"] != [pixels_of(own, image_shape) for own in columns] or len(',
        '    if len(facts["sets"]) != len(columns) or len(',
        ("tests/vision/test_serialization.py",),
    ),
    Bug(
        "averages of weights let a network that diverged reach the others",
        "vision/_runtime.py",
        "torch._foreach_lerp_(self.tensors, self.current, 1 - decay)",
        "torch._foreach_lerp_(\n"
        "                self.tensors, [one + 0 * one.mean() for one in self.current], 1 - decay\n"
        "            )",
        ("tests/vision/test_weight_averages.py",),
    ),
    # ---- what is shared between submodels, rows of a batch, and fits ----
    Bug(
        "sample weights shared instead of copied",
        "ensemble/_plan.py",
        "params = {name: np.array(values) for name, values in self.fit_params.items()}",
        "params = dict(self.fit_params)",
        ("tests/ensemble/test_plan.py",),
    ),
    Bug(
        "the prior forgotten where units overlap",
        "rules/_votes.py",
        'return kernels.gaps("tournament", scores, self._setting(n_labels), shift)',
        'return kernels.gaps("tournament", scores, self._setting(n_labels), None)',
        (REACH,),
    ),
    Bug(
        "the solver's value instead of its dual bound",
        "rules/_overlap.py",
        "    dual = solution.mip_dual_bound\n",
        "    dual = solution.fun\n",
        (OVERLAP,),
    ),
    Bug(
        "a centre learnt from attacked labels",
        "ensemble/_base.py",
        "known = None if self.label_attacks else y",
        "known = y",
        ("tests/ensemble/test_target.py",),
    ),
    Bug(
        "a score that is no number becomes the batch's smallest",
        "ensemble/_submodels.py",
        "known[~np.isfinite(known)] = FLOOR",
        "known[~np.isfinite(known)] = known[np.isfinite(known)].min(initial=0)",
        ("tests/ensemble/test_submodels.py",),
    ),
    Bug(
        "a resume plan without the seed",
        "workflow/_fit_parquet.py",
        '        "seed": plan.seed,\n',
        "",
        ("tests/workflow/test_fit_parquet.py",),
    ),
    Bug(
        "submodels with one generator fitted at once",
        "ensemble/_soundness.py",
        "    return any(_is_of_liblinear(part) for _, part in parts_of(estimator))",
        "    return False",
        ("tests/ensemble/test_soundness.py",),
    ),
    Bug(
        "no canary",
        "ensemble/_base.py",
        "            check_same_scores(ballots[:, t], scores(model, t), plan.names[t])\n",
        "",
        ("tests/ensemble/test_soundness.py",),
    ),
    Bug(
        "a whole number taken for a position",
        "ensemble/_base.py",
        "return Columns([str(name) for name in names], table.labels)",
        "return Columns([str(name) for name in names])",
        ("tests/partition/test_columns.py",),
    ),
    Bug(
        "one-hot names split at the last separator",
        "partition/_partition.py",
        "return name.split(separator, 1)[0] or name",
        "return name.rsplit(separator, 1)[0] or name",
        ("tests/partition/test_units.py",),
    ),
    Bug(
        "the kinds of listed rows guessed from the batch",
        "ensemble/_base.py",
        "        table.set_numeric(self.numeric_)\n",
        "",
        ("tests/tables/test_memory.py",),
    ),
    # ---- head starts ----
    Bug(
        "a head start that decides and is not certified",
        "kernels/compiled.py",
        "            gap = gaps[y, z] - (z < y)\n            reach",
        "            gap = gaps[y, z] - (z < y) + head_start[y]\n            reach",
        (RULES,),
    ),
    Bug(
        "a head start: forgotten where units overlap",
        "kernels/compiled.py",
        "FAR if z == y else gaps[y, z] - (z < y)",
        "FAR if z == y else gaps[y, z] - (z < y) - head_start[y] + head_start[z]",
        (REACH, KERNELS),
    ),
    # ---- beyond the rules: thirty places where a wrong line would certify something false ----
    Bug(
        "run-off, exact: one submodel too many",
        "kernels/compiled.py",
        "duel_gap, least + 1, worth) - 1",
        "duel_gap, least + 1, worth)",
        (RULES,),
    ),
    Bug(
        "top-k: one submodel too many",
        "kernels/compiled.py",
        "            return m - 1\n",
        "            return m\n",
        (RULES,),
    ),
    Bug(
        "reach: a row that nearly all groups cannot break withstands all units",
        "rules/_overlap.py",
        "np.where(radius >= len(self), self.n_units, radius)",
        "np.where(radius >= len(self) - 1, self.n_units, radius)",
        (REACH,),
    ),
    Bug(
        "reach: one unit too many",
        "rules/_overlap.py",
        'np.searchsorted(reached, radius, side="right")',
        'np.searchsorted(reached, radius, side="right") + 1',
        (REACH,),
    ),
    Bug(
        "cover: the attack itself is certified",
        "rules/_overlap.py",
        "return max(bound, best - 1)",
        "return max(bound, best)",
        (REACH,),
    ),
    Bug(
        "cover: the budget is larger than it is",
        "rules/_overlap.py",
        "(paid[None], budget + 1, np.inf)",
        "(paid[None], budget + 3, np.inf)",
        (OVERLAP, REACH),
    ),
    Bug(
        "collective: pairs at the edge are left out",
        "collective.py",
        "self.largest_totals(losses, size + self.gate) > budgets)",
        "self.largest_totals(losses, size + self.gate) > budgets + 2)",
        (COLLECTIVE,),
    ),
    Bug(
        "collective: the program's bound rounded the wrong way",
        "collective.py",
        "int(np.floor(-dual + ROUNDING))",
        "int(np.floor(-dual - 0.5))",
        (COLLECTIVE,),
    ),
    Bug(
        "criticality: a unit that just suffices is not critical",
        "collective.py",
        "(totals > budgets[:, :, None])",
        "(totals > budgets[:, :, None] + 1)",
        (COLLECTIVE,),
    ),
    Bug(
        "patches: the smallest positions instead of the largest",
        "patches.py",
        "distinct[~inside.any(axis=1)]",
        "distinct[~inside.any(axis=0)]",
        ("tests/exhaustive/test_patches.py",),
    ),
    Bug(
        "metrics: wrong rows count as certified",
        "metrics.py",
        "np.where(proof.correct(y), proof.radius.astype(float), -np.inf)",
        "proof.radius.astype(float)",
        ("tests/metrics/test_curves.py",),
    ),
    Bug(
        "bounds: a share of the largest value",
        "certificates.py",
        "width = width * np.abs(middle)",
        "width = width * np.abs(middle).max()",
        ("tests/ensemble/test_regressor.py",),
    ),
    Bug(
        "top-k: a label nobody knows is certified",
        "ensemble/_base.py",
        "            if known is not None:\n",
        "            if False:\n",
        ("tests/ensemble/test_classifier.py",),
    ),
    Bug(
        "overlap: units counted as if each reached one submodel",
        "ensemble/_base.py",
        "overlap = isinstance(self.partition_, Overlap)",
        "overlap = False",
        ("tests/partition/test_guarantee.py", "tests/test_proof.py"),
    ),
    Bug(
        "units: every submodel sees the first unit",
        "partition/_partition.py",
        "own = chain.from_iterable(self.columns[unit] for unit in units)\n",
        "own = {*self.columns[0], *chain.from_iterable(self.columns[unit] for unit in units)}\n",
        ("tests/partition/test_units.py", "tests/partition/test_guarantee.py"),
    ),
    Bug(
        "label attacks: a submodel sees the labels of all rows",
        "ensemble/_plan.py",
        "np.where(mine, y, UNLABELLED) if mine.any() else y[:0]",
        "y.copy()",
        ("tests/ensemble/test_plan.py",),
    ),
    Bug(
        "label attacks: a submodel learns from all rows",
        "ensemble/_plan.py",
        "        rows = np.flatnonzero(mine)\n",
        "        rows = np.flatnonzero(y != UNLABELLED if len(self.classes) else np.isfinite(y))\n",
        ("tests/ensemble/test_plan.py",),
    ),
    Bug(
        "label attacks: the fixed vote is the commonest label",
        "ensemble/_tasks.py",
        "        if not self.label_attacks:\n            label = int(",
        "        if True:\n            label = int(",
        ("tests/ensemble/test_target.py",),
    ),
    Bug(
        "failures: a row that fails takes the batch along",
        "ensemble/_submodels.py",
        "            ballots[i] = score(submodel, one_row(X, i))[0]\n",
        "            score(submodel, one_row(X, i))\n",
        ("tests/ensemble/test_submodels.py",),
    ),
    Bug(
        "failures: more than half of the submodels stop a fit",
        "ensemble/_submodels.py",
        "    banner = failure_banner(len(causes), submodels)\n",
        "    if len(causes) > submodels // 2:\n        raise SubmodelError(causes[0])\n"
        "    banner = failure_banner(len(causes), submodels)\n",
        ("tests/ensemble/test_submodels.py",),
    ),
    Bug(
        "failures: a fit stops where all members that leave groups out failed",
        "ensemble/_submodels.py",
        "    banner = failure_banner(len(causes), submodels)\n",
        "    if len(causes) >= submodels - 1:\n        raise SubmodelError(causes[0])\n"
        "    banner = failure_banner(len(causes), submodels)\n",
        ("tests/ensemble/test_leave_out.py",),
    ),
    Bug(
        "threads: submodels take as many threads as they like",
        "ensemble/_plan.py",
        "submodel.set_params(**one_thread_settings(submodel), **seeds(submodel, self.seed, t))",
        "submodel.set_params(**seeds(submodel, self.seed, t))",
        ("tests/ensemble/test_base.py",),
    ),
    Bug(
        "boosting: categories are numbered anew in every batch",
        "tables/_table.py",
        "        if not _only_texts(cells):\n",
        "        codes = _most_frequent_codes(column) or codes\n"
        "        if not _only_texts(cells):\n",
        ("tests/ensemble/test_isolation.py", "tests/ensemble/test_table_estimators.py"),
    ),
    Bug(
        "trees: thresholds are rounded to a value beside them",
        "ensemble/_table_estimators.py",
        "return np.clip(thresholds * scale[1] + scale[0], least[n_left], beyond[n_left])",
        "return thresholds * scale[1] + scale[0]",
        ("tests/ensemble/test_table_estimators.py",),
    ),
    Bug(
        "blend: the randomized trees do not count",
        "ensemble/_table_estimators.py",
        "boosted + np.log(np.maximum(shares, LEAST_SHARE))",
        "boosted + np.log(np.maximum(0 * shares, LEAST_SHARE))",
        ("tests/ensemble/test_table_estimators.py",),
    ),
    Bug(
        "trees: seeds are forgotten",
        "ensemble/_table_estimators.py",
        "rng = check_random_state(self.random_state)",
        "rng = check_random_state(None)",
        ("tests/ensemble/test_table_estimators.py",),
    ),
    Bug(
        "store: a changed file is loaded",
        "store/_files.py",
        'if sha256(content) != facts["sha256"]:',
        "if False:",
        ("tests/store/test_archive.py", "tests/store/test_load.py"),
    ),
    Bug(
        "manifest: a column in two units",
        "store/_manifest.py",
        "sorted(every) != list(range(n_features)) or not all(columns),",
        "False,",
        ("tests/store/test_manifest_fuzz.py",),
    ),
    Bug(
        "store: submodels in another order",
        "store/_manifest.py",
        "sorted(numbers, key=numbers.__getitem__)",
        "sorted(numbers, key=numbers.__getitem__, reverse=True)",
        ("tests/store/test_load.py",),
    ),
    Bug(
        "resumed fits: a damaged submodel counts as finished",
        "store/_save.py",
        "return stored if same else None",
        "return stored",
        ("tests/store/test_unfinished.py", "tests/workflow/test_fit_parquet.py"),
    ),
    Bug(
        "resumed fits: a note of another plan counts",
        "store/_save.py",
        'if note.pop("plan") != self._plan:',
        'if note.pop("plan") is None:',
        ("tests/workflow/test_resumed.py",),
    ),
    Bug(
        "resumed fits: other code of the estimator",
        "workflow/_fit_parquet.py",
        '        "code": code_of(plan.estimator),\n',
        "",
        ("tests/workflow/test_resumed.py",),
    ),
    Bug(
        "stored models: submodels of other columns than the manifest says",
        "store/_manifest.py",
        "if found != expected and not counted",
        "if False and not counted",
        ("tests/store/test_manifest_fuzz.py",),
    ),
    Bug(
        "files: rows chosen by a column that an attacker writes",
        "workflow/_training_table.py",
        "if column not in units_file.trusted and column not in units_file.ignore:",
        "if False:",
        ("tests/workflow/test_training_table.py", "tests/workflow/test_fit_parquet.py"),
    ),
    Bug(
        "certified table: another rule's radius",
        "workflow/_certified_table.py",
        "        return replace(self, ballots=replace(self.ballots, rule=decides))\n",
        "        other = object.__new__(type(self))\n"
        "        vars(other).update(vars(self))\n"
        "        vars(other)['ballots'] = replace(self.ballots, rule=decides)\n"
        "        return other\n",
        ("tests/workflow/test_certified_table.py",),
    ),
    Bug(
        "certified table: near the prediction, where the truth is meant",
        "workflow/_certified_table.py",
        "around = self.truth if self.by_truth else None",
        "around = None",
        ("tests/workflow/test_certified_table.py", "tests/report/test_numbers.py"),
    ),
    Bug(
        "summary: wrong rows count as certified and right",
        "workflow/_certified_table.py",
        "np.maximum(correct_radius(truth, stated), -1)",
        "np.maximum(stated.radius, -1)",
        ("tests/workflow/test_summary.py",),
    ),
    Bug(
        "schema: a label that is no whole number is rounded to one",
        "workflow/_schema.py",
        'if kind == NUMBER and y.dtype.kind == "f" and _are_whole(y):',
        'if kind == NUMBER and y.dtype.kind == "f":',
        ("tests/workflow/test_tasks.py", "tests/workflow/test_schema.py"),
    ),
    Bug(
        "ablation: floats taken for the fractions they round",
        "baselines/_ablation_bounds.py",
        "        array = np.nextafter(array, array.dtype.type(towards))\n",
        "        pass\n",
        ("tests/baselines/test_ablation_bounds.py",),
    ),
    Bug(
        "rows: more than all rows may be deleted",
        "baselines/_row_partition.py",
        "radius = np.minimum(proof.radius, self.n_labelled_ - 1)",
        "radius = proof.radius",
        ("tests/baselines/test_row_partition.py",),
    ),
    Bug(
        "units: one raw name is a part of another",
        "partition/_partition.py",
        "        if longer is not None:\n",
        "        if False:\n",
        ("tests/partition/test_units.py",),
    ),
    Bug(
        "labels: another order of the columns is taken",
        "ensemble/_base.py",
        "table.labels != self.labels_in_:",
        "sorted(table.labels) != sorted(self.labels_in_):",
        ("tests/partition/test_columns.py",),
    ),
    # ---- the other defences ----
    Bug(
        "rows: two rows of one content in different buckets",
        "baselines/_row_partition.py",
        "members[bucket_of(digests[i], len(members))].append(i)",
        "members[i % len(members)].append(i)",
        ("tests/baselines/test_row_partition.py",),
    ),
    Bug(
        "ablation: half of the level",
        "baselines/_ablation.py",
        "int(self.n_certify), self.alpha / 2)",
        "int(self.n_certify), self.alpha * 2)",
        ("tests/baselines/test_ablation_regression.py",),
    ),
    Bug(
        "smoothing: bands do not wrap round",
        "baselines/_smoothing.py",
        "down = (np.arange(height) - np.arange(height)[:, None]) % height < size",
        "down = np.abs(np.arange(height) - np.arange(height)[:, None]) < size",
        ("tests/baselines/test_bands.py",),
    ),
    # ---- one attacker, many rows ----
    Bug(
        "collective: rows whose radius is too small are not counted",
        "collective.py",
        "batch.own_radius < batch.reach.most_reached(size)",
        "batch.own_radius < size - 1",
        ("tests/exhaustive/test_collective.py",),
    ),
    # ---- a full model behind the vote ----
    Bug(
        "gate: open above it only",
        "rules/_gate.py",
        "(vote.radius >= self.gate) |",
        "(vote.radius > self.gate) |",
        (GATE,),
    ),
    Bug(
        "gate: the radius is not reduced",
        "rules/_gate.py",
        "return np.where(unbreakable, vote.radius, np.maximum(vote.radius - self.gate, 0))",
        "return vote.radius",
        (GATE,),
    ),
    Bug(
        "gate: the full model is consulted where the vote has nothing to spare",
        "rules/_gate.py",
        "prediction=np.where(opened, vote.prediction, labels)",
        "prediction=np.where(opened & (left > 0), vote.prediction, labels)",
        (GATE,),
    ),
    Bug(
        "gate: the full model's rows keep the vote's radius",
        "rules/_gate.py",
        "radius=np.where(opened, left, 0)",
        "radius=np.where(opened, left, left + 1)",
        (GATE, "tests/rules/test_gate.py"),
    ),
    Bug(
        "gate: any gate in front of an overlapping bound",
        "rules/_gate.py",
        "if overlapping and gate > MOST_OVERLAPPING:",
        "if overlapping and gate > 99:",
        ("tests/rules/test_gate.py",),
    ),
    Bug(
        "gate: certified without it",
        "ensemble/_base.py",
        "rule = Gated(self.rule_, gate) if gate else self.rule_",
        "rule = self.rule_",
        ("tests/ensemble/test_tasks.py", "tests/workflow/test_certified_table.py"),
    ),
    Bug(
        "gate: other units than its own leave it open",
        "rules/_gate.py",
        "proof = self.rule.certify(checked, both, cover, time_limit)",
        "proof = self.rule.certify(checked, reach, cover, time_limit)",
        (GATE,),
    ),
    Bug(
        "gate, one attacker: the units that keep it open are forgotten",
        "collective.py",
        "    reserve = batch.largest_totals(losses, gate)",
        "    reserve = batch.largest_totals(losses, 0)",
        (GATE,),
    ),
    Bug(
        "gate, one attacker: rows at the edge are left out",
        "collective.py",
        "self.largest_totals(losses, size + self.gate)",
        "self.largest_totals(losses, size)",
        (GATE,),
    ),
    Bug(
        "gate, criticality: one unit less",
        "collective.py",
        "totals = most + np.minimum(totals, next_largest)",
        "totals = most",
        (GATE,),
    ),
    # ---- leaving groups out ----
    Bug(
        "leave out: a set that contains B is not asked",
        "kernels/compiled.py",
        "for k in range(1, per_set):",
        "for k in range(1, per_set - 1):",
        (AGREEMENT,),
    ),
    Bug(
        "leave out: the fallback is consulted too early",
        "kernels/compiled.py",
        "            if not found:\n                label = fallback[i]",
        "            if not unanimous.all():\n                label = fallback[i]",
        (AGREEMENT,),
    ),
    Bug(
        "leave out: one group too many",
        "kernels/compiled.py",
        "                        radius[i] = q\n",
        "                        radius[i] = q + 1\n",
        (AGREEMENT,),
    ),
    Bug(
        "leave out: all models but one agree",
        "kernels/compiled.py",
        "if counts[first] == n_models:",
        "if counts[first] >= n_models - 1:",
        (AGREEMENT,),
    ),
    Bug(
        "leave out: the first attack is forgotten",
        "kernels/compiled.py",
        "        if not found:\n            return False",
        "        if not found and start > 0:\n            return False",
        (AGREEMENT,),
    ),
    Bug(
        "leave out, values: the largest for the least",
        "kernels/compiled.py",
        "_extremes(values[i], models_of, -1, least)",
        "_extremes(values[i], models_of, 1, least)",
        (AGREEMENT,),
    ),
    Bug(
        "leave out, values: the largest for the least, from above",
        "kernels/compiled.py",
        "down = _extreme(most_beyond, beyond_with[a], -1)",
        "down = _extreme(most_beyond, beyond_with[a], 1)",
        (AGREEMENT,),
    ),
    Bug(
        "leave out, values: the best attack instead of the worst",
        "kernels/compiled.py",
        "low[i], high[i] = min(low[i], lowest), max(high[i], highest)",
        "low[i], high[i] = max(low[i], lowest), max(high[i], highest)",
        (AGREEMENT,),
    ),
    Bug(
        "leave out, values: an attack on one group less",
        "rules/_agreement.py",
        "return self.bounds_by(self.radius, q, self.radius + q)",
        "return self.bounds_by(self.radius, max(0, q - 1), self.radius + max(0, q - 1))",
        (AGREEMENT,),
    ),
    Bug(
        "leave out, values: only the lower bound is kept",
        "rules/_agreement.py",
        "(proven == q - 1) & (least >= lower) & (most <= upper)",
        "(proven == q - 1) & (least >= lower)",
        (AGREEMENT,),
    ),
    Bug(
        "leave out, values: more groups than the design allows",
        "rules/_agreement.py",
        "            elif radius <= pattern.radius:\n",
        "            elif (radius := min(radius, pattern.radius)) >= 0:\n",
        (AGREEMENT,),
    ),
    Bug(
        "leave out: a family that has one set twice",
        "rules/_agreement.py",
        " or len(np.unique(matrix, axis=0)) != len(matrix):",
        ":",
        ("tests/rules/test_left_out.py",),
    ),
    Bug(
        "leave out: votes below the first label",
        "rules/_agreement.py",
        "if indices.min(initial=0) < 0:",
        "if indices.min(initial=0) < -1:",
        ("tests/rules/test_agreement.py",),
    ),
    Bug(
        "leave out: ballots are read past their end",
        "rules/_agreement.py",
        "    if ballots.shape[1] != expected:\n",
        "    if ballots.shape[1] > expected:\n",
        ("tests/rules/test_pooled.py",),
    ),
    Bug(
        "leave out: a pool holds members that see part of D",
        "partition/_leave_out.py",
        "np.flatnonzero(hidden[:, chosen].all(axis=1))",
        "np.flatnonzero(hidden[:, chosen].any(axis=1))",
        (AGREEMENT, LEAVE_OUT),
    ),
    Bug(
        "leave out: the model on all columns is in every pool",
        "partition/_leave_out.py",
        "np.flatnonzero(hidden[:, chosen].all(axis=1))",
        "np.flatnonzero(hidden[:, chosen].all(axis=1) | ~hidden.any(axis=1))",
        (AGREEMENT, LEAVE_OUT),
    ),
    Bug(
        "leave out: a set that no member leaves out",
        "partition/_leave_out.py",
        "            if not hidden[:, chosen].all(axis=1).any():\n",
        "            if False:\n",
        (LEAVE_OUT,),
    ),
    Bug(
        "leave out: members that leave out too little",
        "partition/_leave_out.py",
        "    if covered.min() == 0:\n",
        "    if False:\n",
        (LEAVE_OUT,),
    ),
    Bug(
        "leave out: every member sees the first unit",
        "partition/_leave_out.py",
        "if g not in hidden for unit in units)",
        "for unit in units if g not in hidden or unit == 0)",
        (LEAVE_OUT, LEFT_OUT_PROOF),
    ),
    Bug(
        "leave out: groups share a unit",
        "partition/_partition.py",
        "                if unit in owners:\n",
        "                if False:\n",
        ("tests/partition/test_partition.py",),
    ),
    Bug(
        "leave out: a unit is split over two groups",
        "partition/_partition.py",
        "if owners.setdefault(unit, t) != t:",
        "if owners.setdefault(unit, t) < 0:",
        ("tests/partition/test_choose_partition.py",),
    ),
    Bug(
        "masks: a column is left unmasked",
        "ensemble/_leave_out.py",
        "[sorted(everything - set(self.columns_of(t))) for",
        "[sorted(everything - set(self.columns_of(t)))[:-1] for",
        (MASKED,),
    ),
    Bug(
        "masks: an array keeps a column",
        "tables/_masking.py",
        "    masked[:, positions] = ",
        "    masked[:, positions[1:]] = ",
        (MASKS,),
    ),
    Bug(
        "masks: which cells were missing shows",
        "tables/_masking.py",
        "values = np.full(len(column), instead)",
        "values = np.where(column.is_null().to_numpy(), 0.0, np.nan)",
        (MASKS,),
    ),
    Bug(
        "masks: categories show",
        "tables/_masking.py",
        "if column.dtype not in (nw.Categorical, nw.Enum) or keep_categories:",
        "if True:",
        (MASKS,),
    ),
    Bug(
        "masks: the length of the longest text shows",
        "tables/_masking.py",
        'dict.fromkeys("UST", object)',
        'dict.fromkeys("ST", object)',
        (MASKS,),
    ),
    Bug(
        "masks: the type that a cell brings about shows",
        "ensemble/_leave_out.py",
        "MaskedColumns(table.take_all(), self.numeric_)",
        "MaskedColumns(table.take_all(), table.numeric())",
        (MASKED,),
    ),
    Bug(
        "masks: rows are shared between members",
        "tables/_masking.py",
        "with_columns(*columns).clone().to_native()",
        "with_columns(*columns).to_native()",
        (MASKS,),
    ),
    Bug(
        "masks: the certificate does not say that training is trusted",
        "ensemble/_leave_out.py",
        "return replace(counts, trusted=(*counts.trusted, TRAINING_TABLE))",
        "return counts",
        (MASKED,),
    ),
    Bug(
        "masks: a setting of later decides what the fitted models are",
        "ensemble/_leave_out.py",
        "return len(self.estimators_) < len(self.partition_)",
        'return self.training == "trusted"',
        ("tests/ensemble/test_leave_out.py",),
    ),
    # ---- rare labels ----
    Bug(
        "alarms: one that the attacker just silences is kept",
        "metrics.py",
        "proof.prediction == positive, proof.radius >= radius",
        "proof.prediction == positive, proof.radius >= radius - 1",
        ("tests/metrics/test_alarms.py",),
    ),
    Bug(
        "precision: rows that an attacker adds are forgotten",
        "metrics.py",
        "possible = certain + false_now + (n_other - staying)",
        "possible = certain + false_now",
        ("tests/metrics/test_class_curves.py",),
    ),
    Bug(
        "precision in summaries: only wrong rows can be added",
        "metrics.py",
        "other = ~own & ~named",
        "other = ~own & ~named & (true != predicted)",
        ("tests/workflow/test_class_counts.py", "tests/metrics/test_class_curves.py"),
    ),
    Bug(
        "offsets: certified by the rule that was fitted",
        "selection/_fitted.py",
        "        table = certified.under(moved)\n",
        "        table = certified\n",
        ("tests/selection/test_offset_search.py",),
    ),
    # ---- choosing settings: what is promised to a user who follows the advice ----
    Bug(
        "choice: a setting that a constant beats is recommended",
        "selection/_evaluation.py",
        "            return at(self.curve(one), radius) > level",
        "            return at(self.curve(one), radius) > 0",
        ("tests/selection/test_objective.py",),
    ),
    Bug(
        "choice: uneven labels are compared by rows",
        "selection/_evaluation.py",
        "        if least < UNEVEN * most:",
        "        if least == 0:",
        ("tests/selection/test_objective.py",),
    ),
    Bug(
        "choice: the price of the proof is against any ordinary model",
        "selection/_choice.py",
        "        return self.objective.best(tried, 0)",
        "        return tried[0] if tried else None",
        ("tests/selection/test_choice.py",),
    ),
    Bug(
        "splits: the better one decides",
        "selection/_choice.py",
        "    worst = min(splits.values(), key=best_score)\n",
        "    worst = max(splits.values(), key=best_score)\n",
        ("tests/selection/test_choice.py",),
    ),
    Bug(
        "splits: a recommendation where they disagree",
        "selection/_choice.py",
        "            if high - low > max(0.01, 2 * math.hypot(error, other)):",
        "            if high - low > 1:",
        ("tests/selection/test_choice.py",),
    ),
    Bug(
        "splits: rows that are sorted by their labels are taken for time",
        "selection/_splits.py",
        "    strata = _strata(y[sample], task)\n",
        "    strata = np.zeros(len(sample), int)\n",
        ("tests/selection/test_splits.py",),
    ),
    Bug(
        "splits: a sensor of whole numbers is taken for a mark",
        "selection/_splits.py",
        "    return smooth < 0.25 and bool(many)",
        "    return bool(many)",
        ("tests/selection/test_splits.py",),
    ),
    Bug(
        "splits: neighbours are not looked at",
        "selection/_splits.py",
        "    if (order.alike or order.time is not None) and not order.in_runs:",
        "    if order.time is not None and not order.in_runs:",
        ("tests/selection/test_splits.py",),
    ),
    # ---- models that leave units out ----
    Bug(
        "leave-out: another rule counts members",
        "ensemble/_leave_out.py",
        "        if not isinstance(ballots.rule, PooledRule):",
        "        if False:",
        ("tests/ensemble/test_leave_out.py",),
    ),
    Bug(
        "leave-out, report: curves of votes over members that share units",
        "report/_numbers.py",
        "    if not agreement and model.task ==",
        "    if model.task ==",
        ("tests/report/test_suspects.py",),
    ),
    # ---- watching sources: alarms more often than stated, or blame for the wrong ones ----
    Bug(
        "watch: the usual rate without its bound",
        "watch/_rates.py",
        "return np.where(self.counted > 0, upper, 1.0)",
        "return np.where(self.counted > 0, np.nan_to_num(self.rates), 1.0)",
        ("tests/watch/test_watcher.py", "tests/watch/test_rates.py"),
    ),
    Bug(
        "watch: ties are taken out of the bound of a learnt threshold",
        "watch/_rates.py",
        "        contradictions[source] = n - k\n",
        "        contradictions[source] = found.contradicts(thresholds)[:, source].sum()\n",
        ("tests/watch/test_rates.py",),
    ),
    Bug(
        "watch: stakes start anew with every batch",
        "watch/_watcher.py",
        "        self.n_rows += len(contradicts)\n",
        "",
        ("tests/watch/test_betting.py",),
    ),
    Bug(
        "watch: a whole new stake at every row",
        "watch/_watcher.py",
        "begins = -np.log(n * (n + 1))[:, None, None] - (",
        "begins = -(",
        ("tests/watch/test_betting.py",),
    ),
    Bug(
        "watch: rows count in which the submodel alone may have decided",
        "watch/_evidence.py",
        "proof.radius[:, None] >= 1",
        "proof.radius[:, None] >= 0",
        ("tests/exhaustive/test_evidence.py",),
    ),
    Bug(
        "watch: every source has all false alarms to itself",
        "watch/_watcher.py",
        "level = self.false_alarms / (2 * n_tests)",
        "level = self.false_alarms",
        ("tests/watch/test_watcher.py",),
    ),
    Bug(
        "watch: a state of another model begins with its wealth",
        "watch/_files.py",
        'if found["model"] != model:',
        "if False:",
        ("tests/watch/test_state_file.py",),
    ),
    Bug(
        "watch: two calls with one state, and the rows of the first are forgotten",
        "watch/_files.py",
        "if _content(self.place) != self.content:",
        "if False:",
        ("tests/watch/test_state_file.py",),
    ),
    Bug(
        "watch: a damaged state is read",
        "watch/_watcher.py",
        'if state.get("sha256") != _hash(state):',
        "if False:",
        ("tests/watch/test_state_file.py",),
    ),
    Bug(
        "watch: what a dead worker has lost is forgotten",
        "serve/_metrics.py",
        "lasting=True)",
        "lasting=False)",
        ("tests/serve/test_source_watch.py",),
    ),
    # ---- the paper's tables ----
    Bug(
        "tables: overlapping sets counted as if they were apart",
        "research/measure.py",
        "ballots = replace(ballots, rule=rule)",
        "ballots = replace(ballots, rule=rule, reach=None)",
        ("tests/research/test_measure.py",),
    ),
    # ---- silence ----
    Bug(
        "silence: abstainers priced beside no liars",
        "kernels/compiled.py",
        "cost = lies[r] + silences[min(r + m if apart else m, n_groups)]",
        "cost = lies[r] + silences[min(r + m - 1 if apart else m, n_groups)]",
        (SILENCE,),
    ),
    Bug(
        "silence: overlapping units that abstain cost nothing",
        "kernels/compiled.py",
        "silence[g] += max(0, loss - full_vote)",
        "silence[g] = max(0, loss - full_vote)",
        (SILENCE,),
    ),
    Bug(
        "silence: the run-off forgets who falls out of the top two",
        "kernels/compiled.py",
        "reach = min(reach, dp(first - m, second - m))",
        "reach = min(reach, dp(first, second))",
        (SILENCE,),
    ),
    Bug(
        "silence: in a run-off an abstention costs half of what it does",
        "kernels/compiled.py",
        "reach = (least - m) // 2",
        "reach = (2 * least - m) // 4",
        (SILENCE,),
    ),
    Bug(
        "silence: the top k keeps the votes of silent voters",
        "kernels/compiled.py",
        "counts[y] -= m > 0",
        "counts[y] -= m > 1",
        (SILENCE,),
    ),
    Bug(
        "silence: a median of an odd number stays odd",
        "rules/_median.py",
        "odd = scores.shape[1] % 2",
        "odd = 0",
        (SILENCE,),
    ),
    Bug(
        "silence: an empty vote is certified",
        "rules/_silence.py",
        "return np.where(empty & (radii != kernels.FAR), -1, radii)",
        "return radii",
        (SILENCE, FRONTIER),
    ),
    Bug(
        "silence: nobody can break a silence that is read from values",
        "rules/_silence.py",
        "idle = rule.full_vote if ballots.silence_detected else 0",
        "idle = 0",
        (SILENCE,),
    ),
    Bug(
        "silence: idle submodels never vote in the top k",
        "rules/_silence.py",
        "idle = (n_submodels - number) * ballots.silence_detected",
        "idle = 0",
        (SILENCE,),
    ),
    Bug(
        "silence: with head starts an empty vote is decided by the fixed ballot",
        "rules/_votes.py",
        "return np.zeros(len(default)) if shift is None else shift",
        "return default",
        (SILENCE,),
    ),
    Bug(
        "silence: a gate that may close",
        "rules/_gate.py",
        "behind = np.where(radii == kernels.FAR, radii, radii - gate)",
        "behind = radii",
        (FRONTIER,),
    ),
    Bug(
        "silence: groups whose silence may be broken are taken for safe",
        "rules/_agreement.py",
        "radius = self.radius - len(silent)",
        "radius = smaller.radius",
        (SILENT_GROUPS,),
    ),
    Bug(
        "silence: one more group than the models without silent ones can spare",
        "rules/_agreement.py",
        "return Design(self.n_groups - n_silent, self.radius - (n_silent + 1) // 2, order, size)",
        "return Design(self.n_groups - n_silent, self.radius - n_silent // 2, order, size)",
        (SILENT_GROUPS,),
    ),
    Bug(
        "silence: values that a broken silence brings back are left out",
        "rules/_agreement.py",
        "beyond = self.radius if ballots.silence_detected else design.radius",
        "beyond = design.radius",
        (SILENT_GROUPS,),
    ),
    Bug(
        "silence: sets of groups that need not be unanimous",
        "rules/_agreement.py",
        "sets_with = supersets(design.n_groups, q + m, r + m // 2)",
        "sets_with = supersets(design.n_groups, q, r + m // 2)",
        (SILENT_GROUPS,),
    ),
    Bug(
        "silence: values beyond the smaller sets of a silence",
        "rules/_agreement.py",
        "tables = design.bounds_by(r + m // 2, q + m, q + m + left)",
        "tables = design.bounds_by(r + m // 2, q + m, q + m)",
        (SILENT_GROUPS,),
    ),
    Bug(
        "silence: the votes of silent sources count",
        "ensemble/_silent_sources.py",
        "return Abstentions(np.asarray(abstains), default, detected, groups, quiet)",
        "return Abstentions(np.zeros_like(abstains), default, detected, groups, quiet)",
        (SILENT_SOURCES,),
    ),
    Bug(
        "silence: one column that is there speaks for its whole unit",
        "ensemble/_silent_sources.py",
        "quiet[:, u] &= _missing",
        "quiet[:, u] = _missing",
        (SILENT_SOURCES,),
    ),
    # ---- parties: a ballot that is not the party's own answer to this question ----
    Bug(
        "parties: a late answer to another question",
        "serve/federation/_client.py",
        "                content = await self._exchange(body, most_bytes)",
        "                self.late = getattr(self, 'late', None) or asyncio.ensure_future("
        "self._exchange(body, most_bytes)); content = await asyncio.shield(self.late)",
        (ASKING,),
    ),
    Bug(
        "parties: a malformed answer taken as zeros",
        "serve/federation/_federation.py",
        "                    reason = str(exc)",
        "                    reason, ballots[:, k] = str(exc), 0.0",
        (PARTIES, FEDERATION),
    ),
    Bug(
        "parties: a malformed answer read in part",
        "serve/federation/_client.py",
        "    if not isinstance(row, list) or len(row) != width:",
        "    if not isinstance(row, list) or len(row) > width:",
        (FEDERATION,),
    ),
    Bug(
        "parties: a silent party that nobody can own",
        "serve/federation/_federation.py",
        "Abstentions(silent, self.default, detected=True, units=silent)",
        "Abstentions(silent, self.default, detected=False, units=silent)",
        (PARTIES,),
    ),
    Bug(
        "parties: a ballot of another party",
        "serve/federation/_federation.py",
        "ballots[:, k], identity = read_answer(",
        "ballots[:, k - 1], identity = read_answer(",
        (FEDERATION,),
    ),
    Bug(
        "parties: an unknown key answered with another row",
        "serve/federation/_apps.py",
        "        ballots[found < 0] = np.nan",
        "        ballots[found < -1] = np.nan",
        (PARTY_ROWS,),
    ),
    Bug(
        "parties: one address with two votes",
        "serve/federation/_parties.py",
        "if rest[j] == rest[k] and (shared",
        "if one.path != other.path and rest[j] == rest[k] and (shared",
        (PARTY_LIST,),
    ),
    Bug(
        "parties: two names of one host with two votes",
        "serve/federation/_parties.py",
        ".union(*(one.result() for one in ready))",
        "",
        (PARTY_PLACES,),
    ),
    Bug(
        "parties: two spellings of a path with two votes",
        "serve/federation/_parties.py",
        '        elif segment not in ("", "."):',
        '        elif segment != "":',
        (PARTY_PLACES,),
    ),
    Bug(
        "parties: one party behind a proxy counts twice",
        "serve/federation/_federation.py",
        "                    self._merge(found.setdefault(identity, k), k)\n",
        "",
        (PARTY_PLACES,),
    ),
    Bug(
        "parties: what was shown to be one party is forgotten",
        "serve/federation/_federation.py",
        "        found: dict[str, int] = {}\n",
        "        found: dict[str, int] = {}\n"
        "        self._identities = list(range(len(self.parties)))\n",
        (PARTY_PLACES,),
    ),
    Bug(
        "parties: a party that is listed twice has two identities",
        "serve/federation/_federation.py",
        "    return None if len(parties) == len(own) else parties[:, None] == own",
        "    return None",
        (PARTY_PLACES, PARTIES),
    ),
    # ---- the service: an answer that is another row's is a false certificate ----
    Bug(
        "service: rows of another request",
        "serve/_certifier.py",
        'content = json_bytes(self.proven | {"rows": rows[first:end]})',
        'content = json_bytes(self.proven | {"rows": rows[: end - first]})',
        (CERTIFIER,),
    ),
    Bug(
        "service: results in another order",
        "serve/_certifier.py",
        "for (_, future), result in zip(batch, results, strict=True)",
        "for (_, future), result in zip(batch, results[::-1], strict=True)",
        (BATCHING,),
    ),
    Bug(
        "service: requests together whose rows may depend on each other",
        "ensemble/_one_pass.py",
        "return all(type(model) in FLAT or isinstance(model, FixedVote) for model in models)",
        "return bool(models)",
        (CERTIFIER, OTHERS),
    ),
    Bug(
        "service: a column read as another",
        "tables/_table.py",
        "chosen = [self._columns[j] for j in columns]",
        "chosen = [self._columns[j] for j in sorted(columns)]",
        ("tests/tables/test_columns.py",),
    ),
    # ---- all submodels in one pass ----
    Bug(
        "one pass: a mask that hides nothing",
        "ensemble/_one_pass.py",
        "        masked[:, places] = np.nan\n",
        "",
        ("tests/ensemble/test_one_pass.py",),
    ),
    Bug(
        "one pass: a column is encoded as its first submodel does",
        "ensemble/_one_pass.py",
        "key = (column, model._encoding(k))",
        "key = (column, None)",
        ("tests/ensemble/test_one_pass.py",),
    ),
    Bug(
        "one pass: old submodels are asked after a new fit",
        "ensemble/_one_pass.py",
        "    if known is None or not _are_same(known[0], parts):",
        "    if known is None:",
        ("tests/ensemble/test_one_pass.py",),
    ),
    Bug(
        "one pass: columns are read together that may change each other",
        "ensemble/_base.py",
        "found = one_pass(self, submodels, columns) if table.reads_apart else None",
        "found = one_pass(self, submodels, columns)",
        ("tests/ensemble/test_one_pass.py",),
    ),
    # ---- windows of an image, and models that leave them out ----
    Bug(
        "windows: one pixel too small",
        "vision/_windows.py",
        "(pixel < first + self.step + self.patch - 1)",
        "(pixel < first + self.step + self.patch - 2)",
        (WINDOWS,),
    ),
    Bug(
        "windows: made for the first shape of patch alone",
        "vision/_windows.py",
        "tall, wide = (max(sides) for sides in zip(*patches, strict=True))",
        "tall, wide = patches[0]",
        (WINDOWS,),
    ),
    Bug(
        "windows: not masked when a network predicts",
        "vision/_window_votes.py",
        "logits = self._logits(loaded, self.hide(self.mask(images), windows))",
        "logits = self._logits(loaded, self.hide(self.mask(images), windows * 0 + len(self._masks)"
        " - 1))",
        ("tests/vision/test_window_networks.py",),
    ),
    Bug(
        "windows: one of two is masked",
        "vision/_window_votes.py",
        "hidden = self._masks[windows].any(dim=1)",
        "hidden = self._masks[windows[:, :1]].any(dim=1)",
        ("tests/vision/test_window_networks.py",),
    ),
    Bug(
        "windows: masked before an image is shifted",
        "vision/_window_votes.py",
        "return self.hide(augmented, hardest.masked_fill(whole, n_windows))",
        "hidden = self.hide(self.mask(own), hardest.masked_fill(whole, n_windows)); return"
        " torch.cat([augment(hidden[..., :-1], self.recipe, generator), hidden[..., -1:]], dim=3)",
        ("tests/vision/test_window_networks.py",),
    ),
    Bug(
        "windows: those that a network is best at are masked",
        "vision/_window_votes.py",
        "windows[losses.argmax(dim=0)",
        "windows[losses.argmin(dim=0)",
        ("tests/vision/test_window_networks.py",),
    ),
    Bug(
        "windows: a model is trained on one of the windows that it leaves out",
        "vision/_leave_out_images.py",
        "for own in ~(left_out @ masks)]",
        "for own in ~masks[left_out.argmax(axis=1)]]",
        ("tests/vision/test_leave_out_images.py",),
    ),
    Bug(
        "windows: settled before all models of a set are asked",
        "vision/_window_votes.py",
        "labels[rows] = np.where(fewest == 0, most[row, first], UNKNOWN)",
        "labels[rows] = np.where(fewest <= 1, most[row, first], UNKNOWN)",
        ("tests/vision/test_settled_votes.py",),
    ),
    Bug(
        "windows: pairs of windows that are not asked",
        "vision/_window_votes.py",
        "for models in self._models_of:",
        "for models in self._models_of[:1]:",
        (WINDOWS,),
    ),
    Bug(
        "windows: a set counts as unanimous although votes differ",
        "vision/_window_votes.py",
        "agree = ((votes == most[:, :, None]) | ~known).all(axis=2)",
        "agree = ((votes == most[:, :, None]) | ~known).sum(axis=2) >= votes.shape[2] - 1",
        (WINDOWS, "tests/vision/test_settled_votes.py"),
    ),
    Bug(
        "windows: batches of any size",
        "vision/_window_votes.py",
        "full = F.pad(batch, (0, size - len(batch)))",
        "full = batch",
        ("tests/vision/test_window_votes.py",),
    ),
    # ---- attacks that would make a defence look better than it is ----
    Bug(
        "under attack: the refit does not see the poison",
        "attacks/_any_model.py",
        "unless_refused(fit, self.poisoned(columns), self.scene.y)",
        "unless_refused(fit, self.scene.training.table(), self.scene.y)",
        (REFITS,),
    ),
    Bug(
        "under attack: the trigger is not written into the row",
        "attacks/_any_model.py",
        "right &= self._right(model, rows.table(changes))",
        "right &= self._right(model, rows.table())",
        (REFITS,),
    ),
    Bug(
        "under attack: the backdoor asks for the true label",
        "attacks/_any_model.py",
        "likely[self.labels[None, :] == truth[:, None]] = -np.inf",
        "likely[self.labels[None, :] == truth[:, None]] = np.inf",
        (REFITS,),
    ),
    Bug(
        "under attack: fewer sources are poisoned than the attacker owns",
        "attacks/_any_model.py",
        'sets = [np.argsort(-strength, kind="stable")[:r]]',
        'sets = [np.argsort(-strength, kind="stable")[:1]]',
        (REFITS,),
    ),
    Bug(
        "under attack: the values that help the row most are written",
        "attacks/_search.py",
        "best = leads.argmin(axis=1)",
        "best = leads.argmax(axis=1)",
        (EVADED,),
    ),
    Bug(
        "under attack: a row loses more sources than it is attacked with",
        "attacks/_search.py",
        "        state[:, unit] = places.ravel()",
        "        state[:, unit] = places.ravel()\n"
        "        state[:, (unit + 1) % state.shape[1]] = places.ravel()",
        (EVADED,),
    ),
    Bug(
        "stress: a probability below the others counts as a wrong prediction",
        "attacks/_search.py",
        "own[doubtful] = np.where(right, np.maximum(own[doubtful], 0), lowest)",
        "own[doubtful] = lowest",
        (STRESSED,),
    ),
    Bug(
        "stress: rows that the model refuses count as right",
        "attacks/_stress.py",
        "found.append(self._finding(LIES, (unit,), stands & ~errs, written, number))",
        "found.append(self._finding(LIES, (unit,), stands, written, number))",
        (STRESSED,),
    ),
    Bug(
        "under attack: the strongest attack found is forgotten",
        "attacks/_attack_table.py",
        "least[attack.kind] = np.fmin(least[attack.kind], share(attack.right))",
        "least[attack.kind] = max(0.9, share(attack.right))",
        (STRESSED,),
    ),
    Bug(
        "under attack: the proof counts rows that are certified and wrong",
        "attacks/_attack_table.py",
        "return np.asarray(correct_radius(truth.y, proof))",
        "return np.asarray(proof.radius)",
        (STRESSED,),
    ),
    Bug(
        "networks: two threads draw first weights from one generator",
        "vision/_runtime.py",
        "with _GLOBAL_GENERATOR, torch.random.fork_rng(devices=[]):",
        "with torch.random.fork_rng(devices=[]):",
        ("tests/vision/test_runtime.py",),
    ),
    Bug(
        "networks: a checkpoint of another environment is used",
        "vision/_runtime.py",
        'check_environment(self.path, facts["environment"], self._facts["environment"])',
        "pass",
        ("tests/vision/test_checkpoints.py",),
    ),
    Bug(
        "patches: silent submodels are counted as patches",
        "patches.py",
        "recounted(proof, survived, counts, None)",
        "recounted(proof, survived, counts, proof.frontier)",
        ("tests/exhaustive/test_patches.py", "tests/test_patches.py"),
    ),
    Bug(
        "certificates: what is counted changes without its radius and frontier",
        "certificates.py",
        "elif self._counted != self.counts:",
        "elif False:",
        ("tests/test_certificates.py",),
    ),
    Bug(
        "patches: a patch that moves between training images is said to be covered",
        "patches.py",
        "int(n_patches), (OTHER_PLACES,))",
        "int(n_patches))",
        ("tests/test_patches.py",),
    ),
    Bug(
        "windows: a shared model takes networks that see one of its windows",
        "vision/_leave_out_images.py",
        "of_networks[:, own].all(axis=1)",
        "of_networks[:, own].any(axis=1)",
        ("tests/vision/test_leave_out_images.py",),
    ),
    Bug(
        "overlaps: the bound of a rule without gaps passes for the exact radius",
        "rules/_base.py",
        """        if reach.cover == "exact":
            raise InputError(
                f"cover='exact' is not""",
        """        if not reach.cover:
            raise InputError(
                f"cover='exact' is not""",
        ("tests/partition/test_guarantee.py",),
    ),
    Bug(
        "ballots of a model are certified under a default rule, not under the model's",
        "rules/_certify.py",
        'return own, ""',
        'return Tournament(), ""',
        ("tests/test_ballots.py",),
    ),
    Bug(
        "overlap, values: a radius counts submodels",
        "rules/_base.py",
        "        reach = ballots.reach if reach is None else reach\n",
        "",
        ("tests/ensemble/test_regressor.py",),
    ),
    Bug(
        "overlap, values: an interval counts submodels",
        "rules/_median.py",
        "        reach = stretched.reach if reach is None else reach\n",
        "",
        ("tests/ensemble/test_regressor.py",),
    ),
    Bug(
        "overlap, labels and top k: a radius counts submodels",
        "rules/_base.py",
        "        reach = ballots.reach if reach is None else reach\n",
        "",
        ("tests/partition/test_guarantee.py",),
    ),
    Bug(
        "overlap, one attacker: submodels are counted",
        "rules/_overlap.py",
        "given = ballots.reach if reach is None else reach\n",
        "given = reach\n",
        ("tests/test_ballots.py",),
    ),
    # ---- label sets ----
    Bug(
        "plurality's labels: a tie taken for a loss",
        "kernels/compiled.py",
        "need = max(0, counts[u] + (u < z) - counts[z] - k)",
        "need = max(0, counts[u] + 1 - counts[z] - k)",
        (LABEL_SETS,),
    ),
    Bug(
        "plurality's labels: one vote too few can be taken",
        "kernels/compiled.py",
        "            possible[i, z] = needed <= k",
        "            possible[i, z] = needed < k",
        (LABEL_SETS,),
    ),
    Bug(
        "plurality's labels: silent submodels are never made to vote",
        "kernels/compiled.py",
        "k = min(most, idle[i] + loose.sum() - loose[z])",
        "k = min(most, loose.sum() - loose[z])",
        (LABEL_SETS,),
    ),
    Bug(
        "run-off's labels: a tie in round 2 taken for a loss",
        "kernels/compiled.py",
        "gap = -np.int64(w < z)\n",
        "gap = -np.int64(1)\n",
        (LABEL_SETS,),
    ),
    Bug(
        "run-off's labels: who votes w always scores z below",
        "kernels/compiled.py",
        "if gap - b * (1 + (w > z)) < 0:",
        "if gap - b * 2 < 0:",
        (LABEL_SETS,),
    ),
    Bug(
        "run-off's labels: nobody votes for the other label of round 2",
        "kernels/compiled.py",
        "                for b in range(m + 1):\n                    if gap - b",
        "                for b in range(1):\n                    if gap - b",
        (LABEL_SETS,),
    ),
    Bug(
        "run-off's labels: the others lose fewer votes than submodels fall",
        "kernels/compiled.py",
        "                    if needed <= m:\n",
        "                    if needed < m:\n",
        (LABEL_SETS,),
    ),
    Bug(
        "run-off's labels: silent submodels are never made to vote",
        "kernels/compiled.py",
        "                worth[1] = idle[i]\n",
        "                worth[1] = 0\n",
        (LABEL_SETS,),
    ),
    Bug(
        "tournament's labels: one duel proves that a label stays ahead",
        "kernels/compiled.py",
        "        if not blocked:\n            return False\n    return True\n",
        "        return blocked\n    return True\n",
        (LABEL_SETS,),
    ),
    Bug(
        "tournament's labels: a tie taken for a lead",
        "kernels/compiled.py",
        "need = gaps[y, w0] - gaps[z, w] + (y < z)",
        "need = gaps[y, w0] - gaps[z, w] + 1",
        (LABEL_SETS,),
    ),
    Bug(
        "tournament's labels: a corrupted submodel moves one duel alone",
        "kernels/compiled.py",
        "gains[n_gains] = 2 * full_vote + duels[y, w0, t] - duels[z, w, t]",
        "gains[n_gains] = full_vote - duels[z, w, t]",
        (LABEL_SETS,),
    ),
    Bug(
        "tournament's labels: head starts are forgotten",
        "kernels/compiled.py",
        "                gap = head_start[y] - head_start[z]\n                for t",
        "                gap = 0 * head_start[y]\n                for t",
        (LABEL_SETS,),
    ),
    Bug(
        "tournament's labels: silent submodels are never made to vote",
        "kernels/compiled.py",
        "        n_idle = min(idle[i], most)\n",
        "        n_idle = 0\n",
        (LABEL_SETS,),
    ),
    Bug(
        "label sets: one unit too few",
        "rules/_base.py",
        "size = min(int(radius), proof.counts.total)",
        "size = min(int(radius) - 1, proof.counts.total)",
        (LABEL_SETS,),
    ),
    Bug(
        "label sets: the labels of an unproven rule are the prediction alone",
        "rules/_base.py",
        "return np.ones((len(ballots), ballots.shape[2]), dtype=bool)",
        "return np.zeros((len(ballots), ballots.shape[2]), dtype=bool)",
        (LABEL_SETS,),
    ),
    Bug(
        "label sets: overlapping units reach one submodel each",
        "rules/_base.py",
        "n_reached, attackable = reach.most_reached(radius), np",
        "n_reached, attackable = radius, np",
        (LABEL_SETS,),
    ),
    Bug(
        "label sets in files: of one bad unit less than the column says",
        "workflow/_certified_table.py",
        "return {r: ballots.own_rule.prediction_set(ballots, r) for r in radii}",
        "return {r: ballots.own_rule.prediction_set(ballots, r - 1) for r in radii}",
        ("tests/workflow/test_certify_file.py",),
    ),
    Bug(
        "label sets in files: every row is covered",
        "workflow/_certified_table.py",
        "summary.covered = Counter({r: int((one & true).sum()) for r, one in sets.items()})",
        "summary.covered = Counter(dict.fromkeys(sets, len(truth)))",
        ("tests/workflow/test_certify_file.py",),
    ),
    Bug(
        "label sets: the prior stays in the scores",
        "rules/_votes.py",
        'return possible_labels(self, "tournament", ballots, (reach, radius), setting, shift)',
        'return possible_labels(self, "tournament", ballots, (reach, radius), setting)',
        (LABEL_SETS,),
    ),
]


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--today"]
    chosen = [bug for bug in BUGS if not words or any(word in bug.name for word in words)]
    if not chosen:
        sys.exit(f"no bug's name has {' or '.join(words)} in it")
    last = float("inf")
    if "--today" in sys.argv:
        chosen = chosen[date.today().toordinal() % 10 :: 10]
        last = time.monotonic() + TODAY_SECONDS
    missed, left = [], 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = [pool.submit(try_out, bug, last) for bug in chosen]
        for k, (bug, future) in enumerate(zip(chosen, outcomes, strict=True), start=1):
            outcome = future.result()
            print(f"{k} of {len(chosen)}: {bug.name}: {outcome}", flush=True)
            if outcome == LEFT:
                left += 1
            elif not outcome.startswith("caught"):
                missed.append(bug.name)
    tried = len(chosen) - left
    print(
        f"{tried - len(missed)} of {tried} planted bugs caught"
        + (f"; not caught: {', '.join(missed)}" if missed else "")
    )
    return len(missed) > 0


def try_out(bug: Bug, last: float) -> str:
    """Plant a bug in a copy of its own and run its tests, unless it is later than ``last``."""
    started = time.monotonic()
    if started > last:
        return LEFT
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for part in ("src", "research"):
            # modification times are copied too, so compiled kernels of untouched files are found
            shutil.copytree(ROOT / part, copy / part)
        file = bug.path(copy)
        honest = file.read_text()
        if honest.count(bug.line) != 1:
            return f"its line is {honest.count(bug.line)} times in {bug.file}: mend the list"
        file.write_text(honest.replace(bug.line, bug.instead))
        for tests in bug.tests:
            outcome = run_tests(tests, copy)
            if outcome is not None:
                return f"{outcome} ({time.monotonic() - started:.0f} s)"
    return "MISSED"


def run_tests(tests: str, copy: Path) -> str | None:
    """Run a file of tests against a copy of the source; return what failed, or None."""
    options = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not long"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-o", f"pythonpath={copy} .", tests],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(copy / "src"), "PARTITA_PLANTED": "1"},
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return None
    if done.returncode != 1:
        return f"the tests did not run: {done.stdout.strip().splitlines()[-1:]}"
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    return "caught by " + (failed[0].split()[1] if failed else "FAILED ?")


if __name__ == "__main__":
    sys.exit(main())
