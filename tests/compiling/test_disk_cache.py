from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from shoal.compiling import disk_cache
from shoal.compiling.disk_cache import Target, sources_hash


def test_the_hash_depends_on_names_and_texts_of_all_kernel_files(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    seen = {sources_hash(tmp_path)}
    (tmp_path / "a.py").write_text("x = 2\n")
    seen.add(sources_hash(tmp_path))
    (tmp_path / "b.py").write_text("")
    seen.add(sources_hash(tmp_path))
    (tmp_path / "b.py").rename(tmp_path / "c.py")
    seen.add(sources_hash(tmp_path))
    (tmp_path / "package").mkdir()
    (tmp_path / "c.py").rename(tmp_path / "package" / "c.py")
    seen.add(sources_hash(tmp_path))
    assert len(seen) == 5


def test_kernels_in_a_zip_file_are_told_apart_by_their_sources_too(tmp_path):
    with zipfile.ZipFile(tmp_path / "shoal.zip", "w") as packed:
        package = Path(disk_cache.__file__).parents[1]
        for path in (*(package / "kernels").rglob("*.py"), *(package / "compiling").rglob("*.py")):
            packed.write(path, path.relative_to(package).as_posix())
    parts = [zipfile.Path(tmp_path / "shoal.zip", f"{name}/") for name in ("kernels", "compiling")]
    assert sources_hash(*parts) == sources_hash()


def test_kernels_are_shipped_for_no_other_processor(monkeypatch):
    monkeypatch.setattr(disk_cache.platform, "machine", lambda: "riscv64")
    assert disk_cache.baseline() is None
    assert not disk_cache.runs_baseline()


@pytest.mark.parametrize("missing", ["avx2", "fma", "bmi2"])
def test_an_older_processor_runs_no_shipped_kernel(monkeypatch, missing):
    features = dict.fromkeys(disk_cache.X86_64_V3, True)
    monkeypatch.setattr(disk_cache.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(disk_cache.llvmlite.binding, "get_host_cpu_features", lambda: features)
    assert disk_cache.baseline() == Target("x86-64-v3", "")
    assert disk_cache.runs_baseline()
    features[missing] = False
    assert not disk_cache.runs_baseline()
    del features[missing]
    assert not disk_cache.runs_baseline()
