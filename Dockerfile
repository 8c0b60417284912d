# The HTTP service of a stored model:
#   docker build -t partita .
#   docker run --rm -p 127.0.0.1:8000:8000 -e PARTITA_TOKEN -v "$PWD/model:/model:ro" partita
# The model must have been stored by the same version of partita and of its libraries (constraints.txt).
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    NUMBA_CACHE_DIR=/var/cache/numba

# LightGBM submodels need OpenMP's library
RUN apt-get update \
    && apt-get install --no-install-recommends --yes libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --uid 10001 partita \
    && mkdir -p /var/cache/numba

WORKDIR /source
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src ./src
RUN pip install -c constraints.txt '.[serve,lightgbm]' \
    && python -m partita.kernels \
    && chown -R partita /var/cache/numba

WORKDIR /
USER partita
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD \
    ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["partita", "serve", "/model", "--host", "0.0.0.0", "--port", "8000"]
