"""A headless Chromium that opens a page as it is, at a width and in a colour scheme, takes keys, and answers questions.

It is spoken to over a pipe, in the browser's own protocol (https://chromedevtools.github.io/devtools-protocol)."""

import contextlib
import json
import os
import shutil
import subprocess
import time

import pytest

HEIGHTS = {1280: 900, 390: 844}  # of the screens
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
PATIENCE = 120  # seconds


def chromium():
    """The browser's command; skips the test where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("no Chromium on this machine (env/setup.sh cpu tests)")
    return found


class Browser:
    def __init__(self, folder):
        """`folder`: for the browser's own files."""
        for_it, self.to, = os.pipe()
        self.answers, from_it = os.pipe()
        kept = [os.dup(for_it), os.dup(from_it)]

        def as_it_wants():
            os.dup2(os.dup(kept[0]), 3)
            os.dup2(os.dup(kept[1]), 4)

        command = [chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                   f"--user-data-dir={folder / 'profile'}", "about:blank"]  # fmt: skip
        self.process = subprocess.Popen(
            command, preexec_fn=as_it_wants, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for end in (for_it, from_it, *kept):
            os.close(end)
        self.read, self.number, self.session = b"", 0, None
        pages = [target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Performance.enable")

    def close(self):
        with contextlib.suppress(OSError, EOFError, RuntimeError):
            self.call("Browser.close")
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.answers)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        message |= {"sessionId": self.session} if self.session else {}
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self.to, left) :]
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _next(self):
        while b"\0" not in self.read:
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise EOFError("the browser has ended")
            self.read += part
        first, self.read = self.read.split(b"\0", 1)
        return json.loads(first)

    def open(self, path, width=1280, scheme="light", end="document.readyState === 'complete'"):
        """Waits until `end` holds and the page is drawn."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=HEIGHTS[width], deviceScaleFactor=1,
                  mobile=width < 500)  # fmt: skip
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.as_uri())
        self.wait(f"location.href.startsWith('file:') && {end}")
        self.ask("await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")

    def wait(self, condition):
        """Until an expression of the page holds."""
        end = time.monotonic() + PATIENCE
        while not self.ask(f"return Boolean({condition})"):
            assert time.monotonic() < end, condition
            time.sleep(0.02)

    def ask(self, script):
        """What the body of an async JavaScript function returns, through JSON."""
        asked = f"(async () => {{ {script} }})()"
        answer = self.call("Runtime.evaluate", expression=asked, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, *keys):
        """Keys of a keyboard, one after the other."""
        for key in keys:
            named = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
            text = {"text": "\r"} if key == "Enter" else {}
            self.call("Input.dispatchKeyEvent", type="keyDown", **named, **text)
            self.call("Input.dispatchKeyEvent", type="keyUp", **named)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def processor_seconds(self):
        """What the page has cost since it was opened."""
        metrics = {metric["name"]: metric["value"] for metric in self.call("Performance.getMetrics")["metrics"]}
        return metrics["TaskDuration"]
