import pytest

pytest.register_assert_rewrite("tests.kernels.optimize.groups")  # so that its checks say what they compared
