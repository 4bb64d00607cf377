"""Opens a page in a headless Chromium and asks it."""

import html
import json
import re
import shutil
import subprocess

import pytest

POLICY = re.compile('<meta http-equiv="Content-Security-Policy"[^>]*>')


def chromium():
    """The browser's command; skips the test where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("no Chromium on this machine (env/setup.sh cpu tests)")
    return found


def ask(folder, page, script, before=""):
    """What the body `script` of an async JavaScript function returns in the page, through JSON.

    The page's policy, which would refuse it, is taken out; `before` is JavaScript that is loaded first."""
    asking = (
        f"<script>{before}</script><script>(async () => {{ const answer = await (async () => {{ {script} }})();"
        "const note = document.createElement('pre'); note.id = 'answer'; note.textContent = JSON.stringify(answer);"
        "document.body.append(note); })();</script>"
    )
    path = folder / "asked.html"
    path.write_text(POLICY.sub("", page).replace("</body>", asking + "</body>"), encoding="utf-8")
    done = dump(folder, path)
    found = re.search('<pre id="answer">(.*?)</pre>', done, re.DOTALL)
    assert found, done[-2000:]
    return json.loads(html.unescape(found[1]))


def dump(folder, path):
    """The page as the browser holds it, as HTML."""
    command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
               "--virtual-time-budget=30000", "--dump-dom", path.as_uri()]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
