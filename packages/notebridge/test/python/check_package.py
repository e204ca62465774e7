"""Checks the package `generated` in the working directory as a user of it would. Any Python, nothing installed: each function
that begins with `check_` runs, in a process where nothing is loaded yet if its name says `fresh`."""

import asyncio
import copy
import importlib
import inspect
import json
import pickle
import pydoc
import subprocess
import sys

sys.path.insert(0, ".")


def refusal(call):
    try:
        call()
    except TypeError as error:
        return str(error)
    raise AssertionError("no TypeError")


def recorded(generated):
    calls = []

    def caller(name, arguments):
        calls.append([name, arguments])
        return {"answer": len(calls)}

    generated.set_tool_caller(caller)
    return calls


def check_fresh_call_forms():
    import generated
    from generated.mcp.shop import order

    calls = recorded(generated)
    given = {"item": "tea", "count": 2}
    assert asyncio.run(order(item="tea", count=2)) == {"answer": 1}
    assert asyncio.run(order(given)) == {"answer": 2}
    assert asyncio.run(order({"item": "tea"}, count=2)) == {"answer": 3}
    assert asyncio.run(order(arguments=given)) == {"answer": 4}
    assert order.sync(item="tea", count=2) == {"answer": 5}
    assert asyncio.run(order.raw(item="tea", count=2)).value == {"answer": 6}
    assert order.raw_sync(given).value == {"answer": 7}
    assert order.sync({"item": "coffee", "count": 2}, item="tea") == {"answer": 8}
    assert calls == [["shop__order", given]] * 8
    assert given == {"item": "tea", "count": 2}


def check_fresh_what_is_left_out_is_not_sent_and_none_is_null():
    import generated
    from generated.mcp.shop import order

    from generated._function import UNSET

    calls = recorded(generated)
    order.sync(item="tea")
    order.sync(item="tea", note=None)
    order.sync({"item": "tea", "note": "x"}, note=UNSET)
    assert [arguments for _, arguments in calls] == [{"item": "tea"}, {"item": "tea", "note": None}, {"item": "tea"}]


def check_fresh_wrong_arguments_are_refused_before_any_call():
    import generated
    from generated.mcp.shop import nothing, order

    calls = recorded(generated)
    assert refusal(order) == "shop.order() missing 1 required keyword-only argument: 'item'"
    assert refusal(lambda: order(itm="tea")) == "shop.order() got an unexpected keyword argument 'itm'. Did you mean 'item'?"
    assert refusal(lambda: order.sync({"ITEM": "tea"})) == "shop.order() got an unexpected keyword argument 'ITEM'. Did you mean 'item'?"
    assert "It takes: item, count" in refusal(lambda: order.raw(zzz=1))
    assert refusal(lambda: nothing(x=1)) == "shop.nothing() got an unexpected keyword argument 'x'. It takes no arguments"
    assert "takes its arguments by name: order(item=...)" in refusal(lambda: order("tea"))
    assert "2 positional arguments were given" in refusal(lambda: order({}, {}))
    assert "2 positional" in refusal(lambda: order({}, arguments={}))
    assert "not 7" in refusal(lambda: order({7: 1}))
    assert calls == []


def check_fresh_names_that_python_cannot_have():
    import generated
    from generated.mcp.shop import odd_names

    calls = recorded(generated)
    odd_names.sync(from_="a", arguments="b", self="c", timeout="d", größe="e", x_y="f")
    odd_names.sync({"from": "a", "arguments": "b", "self": "c", "timeout": "d", "größe": "e", "x-y": "f"})
    odd_names.sync(**{"from": "a", "arguments": "b", "self": "c", "timeout": "d", "größe": "e", "x-y": "f"})
    wanted = {"from": "a", "arguments": "b", "self": "c", "timeout": "d", "größe": "e", "x-y": "f"}
    assert [arguments for _, arguments in calls] == [wanted] * 3


def check_fresh_open_tools_take_what_their_schema_does_not_name():
    import generated
    from generated.mcp.shop import open_tool

    calls = recorded(generated)
    open_tool.sync(known=1, other="x")
    open_tool.sync({"known": 1, "more-of-it": "x"})
    assert [arguments for _, arguments in calls] == [{"known": 1, "other": "x"}, {"known": 1, "more-of-it": "x"}]


def check_fresh_signature_and_help():
    from generated.mcp.shop import order

    written = str(inspect.signature(order)).replace("'", '"')
    wanted = '(*, item: Literal["tea", "coffee"], count: int = 1, note: Optional[str] = ..., tags: List[str] = ["new"], '
    assert written.startswith(wanted), written
    assert str(inspect.signature(order.sync)) == str(inspect.signature(order))
    assert str(inspect.signature(order.raw)).endswith("-> ToolResult")
    shown = " ".join(pydoc.plain(pydoc.render_doc(order)).split()).replace("( *", "(*")
    for part in ("order(*, item", "Orders something.", "count (int, optional): How many. Default: 1.", "destructive", "Returns:"):
        assert part in shown, (part, shown)
    assert "MCP tool shop/order: order(*, item" in repr(order)
    assert inspect.isroutine(order) and callable(order)
    assert asyncio.iscoroutinefunction(order) if sys.version_info < (3, 14) else inspect.iscoroutinefunction(order)
    assert pickle.loads(pickle.dumps(order)) is order and copy.deepcopy(order) is order


def check_fresh_help_of_packages_lists_what_is_in_them():
    import generated

    assert "shop  " in generated.mcp.__doc__ and "7 tools" in generated.mcp.__doc__
    shown = pydoc.plain(pydoc.render_doc(generated.mcp.shop))
    assert "    order            Orders something.\n" in shown, shown[:800]
    assert "shop__order" in dir(generated)


def check_fresh_function_before_module():
    from generated.mcp.shop import order
    from generated.mcp.shop.order import order as same

    import generated.mcp.shop.order

    from generated.mcp.shop import order as again

    assert order is same is again is generated.mcp.shop.order
    assert generated.shop__order is order and generated.servers.shop is generated.mcp.shop


def check_fresh_module_before_function():
    import generated.mcp.shop.order

    from generated.mcp.shop.order import order
    from generated.mcp.shop import order as same

    assert order is same is generated.mcp.shop.order and callable(order)
    from generated.servers.shop import order as other

    assert other is order
    from generated import shop__order

    assert shop__order is order


def check_fresh_star_imports():
    scope = {}
    exec("from generated.mcp.shop import *", scope)
    assert callable(scope["order"]) and callable(scope["tree"]) and "open_tools" not in scope
    exec("from generated import *", scope)
    assert callable(scope["search"])


def check_fresh_one_function_loads_one_module():
    from generated.mcp.shop import order

    loaded = [name for name in sys.modules if name.startswith("generated.mcp.shop.")]
    assert loaded == ["generated.mcp.shop.order"] and order
    heavy = {"asyncio", "http.client", "ssl", "difflib", "inspect", "json"} & set(sys.modules)
    assert "generated._calls" not in sys.modules and "generated._search" not in sys.modules, heavy


def check_fresh_reload_shows_what_there_is_now():
    import generated
    import generated.mcp.shop as shop
    import generated.mcp.extra

    old = shop.order
    assert callable(generated.mcp.extra.ping)
    print(json.dumps("change"), flush=True)
    sys.stdin.readline()
    importlib.reload(generated)
    assert shop.order is not old and "color" in str(inspect.signature(shop.order))
    assert generated.mcp.shop is shop and callable(shop.brand_new) and callable(generated.shop__brand_new)
    assert "brand_new" in dir(shop) and "extra" not in dir(generated.mcp)
    assert "brand_new" in [hit.name for hit in generated.search(server="shop")]
    try:
        generated.mcp.extra
    except AttributeError:
        pass
    else:
        raise AssertionError("a server that is gone is still there")
    try:
        shop.nothing
    except AttributeError:
        pass
    else:
        raise AssertionError("a tool that is gone is still there")
    importlib.reload(shop)
    importlib.reload(generated.mcp)
    assert callable(shop.brand_new)


def check_fresh_newer_names_say_how_to_have_them():
    import generated
    from generated.mcp import shop

    def words(source):
        try:
            exec(source, {"generated": generated, "shop": shop})
        except (ImportError, AttributeError) as error:
            return str(error)
        raise AssertionError(f"{source} was found")

    news = ("from generated.mcp.shop import brand_new", "shop.brand_new", "from generated.mcp import later", "generated.mcp.later", "generated.shop__brand_new")
    before = [words(source) for source in news]
    print(json.dumps("change"), flush=True)
    sys.stdin.readline()
    for source, said in zip(news, before):
        assert "reload" not in said, said
        assert "newer than what was imported. `importlib.reload(generated)` takes" in words(source), words(source)
    assert "reload" not in words("shop.never_there"), words("shop.never_there")
    importlib.reload(generated)
    for source in news:
        exec(source, {"generated": generated, "shop": shop})


def check_fresh_misspelt_names():
    import generated

    for wrong, right in (("mcp.shop.ordr", "order"), ("mcp.shp", "shop"), ("shop__ordr", "shop__order")):
        try:
            eval(f"generated.{wrong}")
        except AttributeError as error:
            assert f"Did you mean {right!r}?" in str(error), str(error)
        else:
            raise AssertionError(wrong)


def check_fresh_imports_that_name_what_is_not_there():
    def words(source):
        try:
            exec(source, {})
        except ImportError as error:
            return type(error).__name__, str(error)
        raise AssertionError(f"{source} was imported")

    import importlib.util

    from generated.mcp import shop

    kind, said = words("from generated.mcp.shop import ordr")
    assert (kind, said.partition(" It has: ")[0]) == ("ImportError", "cannot import name 'ordr' from 'generated.mcp.shop'. Did you mean 'order'?"), said
    assert "order, " in said and "tree" in said, said
    assert words("from generated.mcp.shop import zzz") == ("ImportError", f"cannot import name 'zzz' from 'generated.mcp.shop'. It has:{said.partition(' It has:')[2]}")
    assert words("from generated.mcp import shp") == ("ImportError", "cannot import name 'shp' from 'generated.mcp'. Did you mean 'shop'? It has: extra, shop")
    for source in ("from generated.mcp.shp import order", "import generated.mcp.shp"):
        expected = "No module named 'generated.mcp.shp'. Did you mean 'shop'? It has: extra, shop"
        assert words(source) == ("ModuleNotFoundError", expected), words(source)
    assert words("import generated.mcp.shop.zzz.more")[1].startswith("No module named 'generated.mcp.shop.zzz'. It has: ")
    # Whoever only asks is answered as by any package.
    assert importlib.util.find_spec("generated.mcp.shp") is None
    assert importlib.util.find_spec("generated.mcp.shop.ordr") is None
    assert not hasattr(shop, "ordr")
    assert getattr(shop, "ordr", 1) == 1


def check_fresh_search():
    import generated

    # What is found for words, and that it is what agents find: test/e2e/one-search.test.ts.
    assert [hit.name for hit in generated.search(server="extra")] == ["ping"]
    assert not generated.search("order", server="nothing") and "No tool" in repr(generated.search(server="nothing"))
    assert len(generated.search(limit=2)) == 2
    (hit,) = [hit for hit in generated.search(server="shop") if hit.name == "order"]
    assert "from generated.mcp.shop import order" in repr(hit)
    assert "generated.mcp.shop" not in sys.modules
    assert hit.function is generated.mcp.shop.order


if __name__ == "__main__":
    if len(sys.argv) > 1:
        globals()[sys.argv[1]]()
    else:
        failed = []
        for name in [name for name in globals() if name.startswith("check_") and name not in ("check_fresh_reload_shows_what_there_is_now", "check_fresh_newer_names_say_how_to_have_them")]:
            ran = subprocess.run([sys.executable, "-W", "error", __file__, name], stderr=subprocess.PIPE, universal_newlines=True)
            if ran.returncode:
                failed.append(f"{name}\n{ran.stderr}")
        print("\n".join(failed) or "all good")
