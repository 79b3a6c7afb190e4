# The product of A and the transpose of B.
def run(A, B):
    return A @ B.T
