from tests.contract.bench import Bench

def test_life(bench: Bench) -> None:
    bench.created("demo", bench.base())
    bench.settled()
def test_term(bench: Bench) -> None:
    bench.write("demo", bench.base())
    t = bench.at_terminal("apply")
    t.hear("Only 'yes'")
    t.type("yes\n")
    assert t.end() == 0
    assert "applied" in t.out
