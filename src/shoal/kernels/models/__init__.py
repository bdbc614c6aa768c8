"""Privacy models as kernels read them: rules on counts of sensitive values, and on the people of a population who fit a box."""
