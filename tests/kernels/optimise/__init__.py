import pytest

pytest.register_assert_rewrite("tests.kernels.optimise.groups")  # so that its checks say what they compared
