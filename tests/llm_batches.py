"""The batch and file routes of the test server: a batch is done at the second look; one call in seven lands in the error file.

The server's ``batch`` names a fault: ``made-500``: the first batch is made, but the answer is an error; ``broken-lines``: its results have
lines that are none; ``html``: they are a page; ``cut``: they end within a line; ``odd-status``: a status that nobody knows comes first.
"""

import json
import re

from llm_server import answers_to, completion


def batch_route(server, method, path, headers, raw):
    """(status, data) of a request to /files or /batches."""
    if method == "POST" and path.endswith("/files"):
        boundary = re.search(r"boundary=(\S+)", headers["content-type"])[1].encode()
        part = next(part for part in re.split(b"--" + re.escape(boundary), raw, flags=re.IGNORECASE) if b'name="file"' in part)
        name = f"file-{len(server.files)}"
        server.files[name] = part.split(b"\r\n\r\n", 1)[1].rstrip(b"\r\n")
        made = {"object": "file", "bytes": 1, "created_at": 0, "filename": "calls.jsonl", "purpose": "batch", "status": "processed"}
        return 200, {"id": name, **made}
    if method == "POST":
        name = f"batch-{len(server.batches)}"
        server.batches[name] = {"id": name, "input": json.loads(raw)["input_file_id"], "looks": 0}
        if server.log:
            server.log.write(f"batch {name}\n")
            server.log.flush()
        return (500, {"error": {"message": "no"}}) if name == "batch-0" and server.batch == "made-500" else (200, _shown(server, name))
    if "/batches?" in path or path.endswith("/batches"):
        return 200, {"object": "list", "data": [_shown(server, name) for name in server.batches], "has_more": False}
    if "/files/" in path:
        file = path.split("/files/")[1].split("/")[0]
        page = file == "batch-0-out" and server.batch == "html"
        return 200, b"<html>\n<body>gateway</body>\n</html>" if page else server.files[file]
    name = path.rsplit("/", 1)[1]
    server.batches[name]["looks"] += 1
    if server.batches[name]["looks"] == 2:
        _finish(server, name)
    return 200, _shown(server, name)


def _finish(server, name):
    good, bad = [], []
    for number, line in enumerate(server.files[server.batches[name]["input"]].decode().splitlines()):
        call = json.loads(line)
        if number % 7 == 3 and name == "batch-0":
            bad.append({"id": f"r{number}", "custom_id": call["custom_id"], "response": {"status_code": 500, "body": {}}, "error": None})
            continue
        answer = completion(json.dumps({"answers": answers_to(call["body"]["messages"], server.truth)}), call["body"]["model"])
        response = {"status_code": 200, "request_id": f"b{number}", "body": answer}
        good.append({"id": f"r{number}", "custom_id": call["custom_id"], "response": response})
    for kind, lines in (("out", good[::-1]), ("err", bad)):  # results come in no particular order
        texts = [json.dumps(line, ensure_ascii=False) for line in lines]
        if server.batch == "broken-lines" and name == "batch-0" and kind == "out":
            foreign = json.dumps({**json.loads(texts[0]), "custom_id": "foreign"})
            texts[:4] = [texts[0][:-30], "[1]", '{"custom_id": 5}', "[" * 100_000, foreign, "\ud800"]
        end = -30 if server.batch == "cut" and kind == "out" else None
        server.files[f"{name}-{kind}"] = "\n".join(texts).encode("utf-8", "surrogatepass")[:end]


def _shown(server, name):
    batch = server.batches[name]
    done, odd = batch["looks"] >= 2, server.batch == "odd-status" and batch["looks"] == 1
    about = {"object": "batch", "endpoint": "/v1/chat/completions", "completion_window": "24h", "created_at": 0}
    files = {"output_file_id": f"{name}-out", "error_file_id": f"{name}-err"} if done else {}
    status = "completed" if done else "odd" if odd else "in_progress"
    return {"id": name, **about, "input_file_id": batch["input"], "status": status, **files}
