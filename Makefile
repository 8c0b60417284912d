# Two commands do everything on a machine that has Python 3.11 or newer and make:  make demo  and  make test
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# tests of the source rather than of what it does: make check
CHECKED := tests/test_layout.py tests/test_public.py tests/test_docstrings.py tests/test_typing.py

.PHONY: demo test test-long test-floor fuzz mutations check docs bench reproduce clean

demo: $(VENV)/.demo  ## fit, certify and report on data that scikit-learn ships
	$(BIN)/partita demo
	@echo "From here on: $(BIN)/partita --help  (or: source $(BIN)/activate, then partita --help)"

test: $(VENV)/.dev  ## everything that is quick, beside make check
	$(BIN)/python -m pytest -n 3 --dist loadfile -m "not long" tests --ignore tests/docs $(addprefix --ignore ,$(CHECKED))

test-long: $(VENV)/.dev  ## everything, the slow tests too; the site itself is tested by make docs
	$(BIN)/python -m pytest -n 2 --ignore tests/docs/test_site.py

test-floor:  ## the quick tests at the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv $(VENV)-floor
	$(VENV)-floor/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-floor.txt -e '.[test]'
	$(VENV)-floor/bin/python -m pytest -n 2 -m "not long" --ignore tests/docs -o filterwarnings=  # old libraries warn of each other

fuzz: $(VENV)/.dev  ## broken and hostile input, thousands of times
	PARTITA_FUZZ=3000 $(BIN)/python -m pytest -q tests/test_fuzz.py
	-$(PIP) atheris
	$(BIN)/python tests/guided_fuzz.py

mutations: $(VENV)/.dev  ## plant unsound bugs one at a time: the tests must notice each
	$(BIN)/python tests/mutations.py

check: $(VENV)/.dev  ## style, types, layout, docstrings and their examples
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q $(CHECKED)
	$(BIN)/python -m pytest -q -n 2 src research

docs: $(VENV)/.dev  ## the site, in docs/_build/html; a warning is an error; then its code is run and a browser looks at every page
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going --quiet -b html docs docs/_build/html
	$(BIN)/python -m pytest -q -n 2 -m "not long" tests/docs

bench: $(VENV)/.dev  ## speed and memory, as ratios
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/imports.py
	$(BIN)/python benchmarks/units.py
	$(BIN)/python benchmarks/fit.py
	$(BIN)/python benchmarks/predict.py

# one or more, such as  make reproduce TABLE="22 26" SIZE=full  or  make reproduce FIGURE=3
reproduce: $(VENV)/.dev  ## the paper's tables and figures: TABLE= or FIGURE=, and if wanted SIZE= OUT= CACHE= JOBS=
	$(BIN)/python -m research $(TABLE) $(addprefix figure,$(FIGURE)) $(if $(SIZE),--size $(SIZE)) \
		$(if $(OUT),--out $(OUT)) $(if $(CACHE),--cache $(CACHE)) $(if $(JOBS),--jobs $(JOBS))

clean:
	rm -rf $(VENV) $(VENV)-floor partita-demo* docs/_build docs/api/generated docs/gallery

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "partita needs Python 3.11 or newer; say which: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -c constraints.txt -e '.[cli]'
	$(BIN)/python -m partita.kernels
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -c constraints.txt -e '.[dev]'
	$(BIN)/python -m partita.kernels
	@touch $@
