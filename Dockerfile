# Threadlore: docker build -t threadlore . && docker run -p 8080:8080 -v threadlore:/data threadlore
FROM python:3.11-slim AS build
WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE corpora.toml ./
COPY bot bot
COPY core core
COPY storage storage
# PyTorch's own index has a build without CUDA, a tenth of the size
RUN python -m venv /venv \
 && /venv/bin/pip install --no-cache-dir --index-url https://download.pytorch.org/whl/cpu torch==2.13.0 \
 && /venv/bin/pip install --no-cache-dir -c constraints.txt .

FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 10001 threadlore && mkdir /data && chown threadlore /data
COPY --from=build /venv /venv
COPY --chown=threadlore corpora.toml /app/corpora.toml
WORKDIR /app
USER threadlore
ENV PATH=/venv/bin:$PATH THREADLORE_HOME=/data THREADLORE_HOST=0.0.0.0 PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8080
CMD ["threadlore", "serve"]
