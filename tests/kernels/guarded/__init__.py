import pytest

pytest.register_assert_rewrite("tests.kernels.guarded.groups")  # so that its checks say what they compared
