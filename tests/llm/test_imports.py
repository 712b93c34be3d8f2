import subprocess
import sys

HEAVY = ("openai", "bpe_openai", "aiohttp", "httpx2", "sklearn", "scipy", "starlette", "uvicorn", "django")

MODULES = ("client", "embedding", "exemplars", "fake_provider", "parsing", "retrying", "rubric", "tokens")


def test_importing_the_judge_modules_loads_nothing_heavy() -> None:
    modules = ", ".join(f"judging.llm.{name}" for name in MODULES)
    code = f"import sys, {modules}\nprint([name for name in {HEAVY} if name in sys.modules])"

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == "[]"
