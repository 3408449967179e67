# Threadlore: docker build -t threadlore . && docker run -p 127.0.0.1:8080:8080 -v threadlore:/data threadlore
# the same image twice: --build-arg BASE=python:3.11-slim@sha256:… names the base by what it holds
ARG BASE=python:3.11-slim
FROM ${BASE} AS build
WORKDIR /app
ENV PYTHONDONTWRITEBYTECODE=1
# PyTorch's own index has a build without CUDA, a tenth of the size; a layer of its own, for it never changes
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --no-deps --index-url https://download.pytorch.org/whl/cpu torch==2.13.0
# everything else is the file that was tested, by its hash (make lock)
COPY requirements.lock ./
RUN /venv/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY bot bot
COPY core core
COPY storage storage
COPY evaluation evaluation
RUN PIP_CONSTRAINT=constraints.txt /venv/bin/pip install --no-cache-dir --no-deps . \
 && /venv/bin/pip check \
 && find /venv -type d -name __pycache__ -prune -exec rm -rf {} + \
 && find /venv -type d -name tests -path '*/torch/*' -prune -exec rm -rf {} +

FROM ${BASE}
# git is for sources of kind git; the bot has no root rights and writes to /data alone
RUN apt-get update \
 && apt-get install -y --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 threadlore \
 && install -d -m 700 -o threadlore -g threadlore /data /data/models \
 && install -d -o threadlore -g threadlore /app
COPY --from=build /venv /venv
COPY --chown=threadlore corpora.toml /app/corpora.toml
WORKDIR /app
USER threadlore
# models from Hugging Face (EMBEDDING_MODEL, RERANKER_MODEL) are kept beside the packaged one
ENV PATH=/venv/bin:$PATH \
    THREADLORE_HOME=/data \
    THREADLORE_HOST=0.0.0.0 \
    HF_HOME=/data/models/hub \
    OMP_NUM_THREADS=1 \
    OPENBLAS_NUM_THREADS=1 \
    PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=120s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ.get('THREADLORE_PORT', '8080') + '/healthz', timeout=5)"]
CMD ["threadlore", "serve"]
