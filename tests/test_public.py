"""The public surface: every name is pinned here, and importing it costs little."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import partita

# What users may import. A name that is not here may change without notice; one that is here may
# not be renamed or removed.
PUBLIC = {
    "partita": [
        "Certificates",
        "CertifiedAccuracyDisplay",
        "EmptyProofWarning",
        "FeaturePartitionClassifier",
        "FeaturePartitionRegressor",
        "Informed",
        "InputError",
        "LeaveOutClassifier",
        "LeaveOutRegressor",
        "MissingExtraError",
        "PartitaError",
        "Partition",
        "SoundnessError",
        "SoundnessWarning",
        "StoreError",
        "SubmodelError",
        "SubmodelWarning",
        "Units",
        "certify",
        "certify_collective",
        "certify_parquet",
        "certify_patches",
        "certify_rectangles",
        "choose",
        "compare",
        "criticality",
        "families",
        "fit_parquet",
        "pixels",
        "search_offsets",
        "search_rules",
        "stress",
    ],
    "partita.attacks": [
        "AttackTable",
        "Audit",
        "Fault",
        "Finding",
        "Replay",
        "StressTest",
        "apply_fault",
        "audit",
        "backdoor",
        "check_deterministic",
        "check_pipeline",
        "replay",
        "stress",
        "worst_fault",
    ],
    "partita.ballots": ["Abstentions", "Ballots"],
    "partita.baselines": [
        "ConstantClassifier",
        "ConstantRegressor",
        "RandomizedAblationClassifier",
        "RandomizedAblationRegressor",
        "RowPartitionClassifier",
        "SmoothingClassifier",
        "ablation_radius",
        "compare",
    ],
    "partita.certificates": ["Certificates", "Counts", "Silence"],
    "partita.collective": ["Collective", "certify_collective", "criticality"],
    "partita.datasets": [
        "ImageData",
        "TableData",
        "load_ames",
        "load_beijing_air",
        "load_cifar10",
        "load_digits",
        "load_gas_drift",
        "load_lending_club",
        "load_mnist",
        "load_weather",
        "load_weather_europe",
    ],
    "partita.ensemble": [
        "FeaturePartitionClassifier",
        "FeaturePartitionRegressor",
        "FittedEnsemble",
        "FixedVote",
        "LeaveOutClassifier",
        "LeaveOutRegressor",
        "TableBlendClassifier",
        "TableBlendRegressor",
        "TableBoostingClassifier",
        "TableBoostingRegressor",
        "TableTreesClassifier",
        "TableTreesRegressor",
    ],
    "partita.errors": [
        "EmptyProofWarning",
        "InputError",
        "MissingExtraError",
        "PartitaError",
        "SoundnessError",
        "SoundnessWarning",
        "StoreError",
        "SubmodelError",
        "SubmodelWarning",
    ],
    "partita.metrics": [
        "Alarms",
        "ClassCurve",
        "Curve",
        "Envelope",
        "SetCurve",
        "certified_accuracy",
        "certified_accuracy_curve",
        "certified_alarms",
        "certified_balanced_accuracy",
        "certified_class_curves",
        "certified_recall",
        "certified_scorer",
        "envelope",
        "label_set_curve",
        "median_radius",
        "worst_case_precision",
    ],
    "partita.partition": [
        "Informed",
        "LeaveOut",
        "Overlap",
        "Partition",
        "Units",
        "families",
        "patch_partition",
        "pixels",
        "random_partition",
        "read_units",
        "spiral_partition",
        "strided_partition",
    ],
    "partita.patches": ["certify_patches", "certify_rectangles", "patch_reach"],
    "partita.plot": ["CertifiedAccuracyDisplay"],
    "partita.report": ["gather", "render", "write_report", "write_stress_report"],
    "partita.rules": [
        "Agreement",
        "Gated",
        "Median",
        "Plurality",
        "Rule",
        "RunOff",
        "TopK",
        "Tournament",
        "certify",
        "named_rule",
        "prediction_set",
    ],
    "partita.selection": [
        "Choice",
        "choose",
        "default_ensemble",
        "search_offsets",
        "search_rules",
        "sweep",
    ],
    "partita.serve": ["Federation", "Party", "PartyAnswers", "make_app", "run"],
    "partita.store": ["load", "manifest", "save"],
    "partita.tables": ["CellError", "CsvOptions", "Table", "open_file", "open_table"],
    "partita.vision": [
        "AblatedImageClassifier",
        "CellImageClassifier",
        "LeaveOutImageClassifier",
        "MaskedImageClassifier",
        "PixelSetClassifier",
    ],
    "partita.watch": [
        "Alarm",
        "ReferenceRates",
        "WatchResult",
        "Watcher",
        "learn_usual",
        "watch",
    ],
    "partita.workflow": [
        "certify_parquet",
        "fit_parquet",
    ],
}
# Without a name of their own for users: the command line is used as a command, and the kernels take
# checked arrays only.
INTERNAL = {"partita.cli", "partita.kernels"}


def test_every_package_is_public_by_this_list_or_internal():
    found = {
        f"partita.{module.name}"
        for module in pkgutil.iter_modules(partita.__path__)
        if not module.name.startswith("_")
    }
    assert found == {*PUBLIC, *INTERNAL} - {"partita"}


@pytest.mark.parametrize("package", PUBLIC)
def test_the_public_names_are_pinned_sorted_importable_and_documented(package):
    module = importlib.import_module(package)
    assert module.__all__ == sorted(module.__all__)
    assert module.__all__ == PUBLIC[package]
    assert module.__doc__
    for name in module.__all__:
        public = getattr(module, name)
        assert public.__name__ == name
        assert name in dir(module)
        assert inspect.getdoc(public)
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        module.magic  # noqa: B018


@pytest.mark.parametrize("package", sorted(PUBLIC))
def test_a_name_is_the_same_object_everywhere(package):
    module = importlib.import_module(package)
    for name in PUBLIC[package]:
        others = [other for other in PUBLIC if name in PUBLIC[other]]
        assert all(
            getattr(importlib.import_module(other), name) is getattr(module, name)
            for other in others
        )


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_is_lazy():
    heavy = "{'numpy', 'scipy', 'sklearn', 'numba', 'narwhals', 'pandas', 'matplotlib', 'joblib'}"
    assert run(f"import sys, partita; print({heavy} & set(sys.modules))") == "set()"


HIDDEN = (
    "sklearn",
    "scipy",
    "narwhals",
    "joblib",
    "pandas",
    "polars",
    "matplotlib",
    "threadpoolctl",
)
WITHOUT_MODELS = """
import numpy as np
from partita import certify
from partita.metrics import certified_accuracy, envelope
from partita.rules import Agreement, Median, Plurality, RunOff, TopK, Tournament
ballots = np.random.default_rng(0).normal(size=(50, 11, 4)).astype("float32")
rules = (Plurality(), RunOff(exact=True), Tournament(margin=0.5))
radii = [rule.certify(ballots).radius.sum() for rule in rules]
radii.append(TopK(2).certify(ballots, np.zeros(50, int)).radius.sum())
radii.append(Median().certify(ballots[:, :, 0], -1, 1).radius.sum())
left_out = ~np.eye(3, dtype=bool)
radii.append(Agreement().certify(ballots[:, :3].argmax(2), left_out).radius.sum())
radii.append(np.sum(Agreement(side="mean").interval(ballots[:, :3, 0], left_out, 1)))
print(radii, certified_accuracy(np.zeros(50), certify(ballots, "tournament")))
"""


def test_rules_and_metrics_need_numpy_and_numba_alone():
    hide = f"import sys\nfor name in {HIDDEN}:\n    sys.modules[name] = None"
    assert run(f"{hide}\n{WITHOUT_MODELS}") == run(WITHOUT_MODELS)


@pytest.mark.parametrize(
    ("library", "code", "cure"),
    [
        (
            "pandas",
            "import numpy as np; partita.certify(np.zeros((1, 3, 2)), 'plurality').to_frame()",
            "pip install pandas",
        ),
        (
            "matplotlib",
            "partita.CertifiedAccuracyDisplay([0], [1]).plot()",
            "pip install 'partita[plot]'",
        ),
    ],
)
def test_a_missing_extra_says_how_to_install_it(library, code, cure):
    attempt = f"try:\n    {code}\nexcept partita.MissingExtraError as exc:\n    print(exc)"
    printed = run(f"import sys, partita\nsys.modules['{library}'] = None\n{attempt}")
    assert cure in printed
