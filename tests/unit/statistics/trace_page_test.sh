#!/usr/bin/env bash
# trace_page_test.sh PROGRAM WORK: opens pages of PROGRAM's in a browser without a window, uses them
# as a person would (trace_page_probe.html), and compares what they show then.
#
# FEEDLINE_BROWSER names the browser; otherwise it is the first Chromium on the path.
set -euo pipefail
program=$1
work=$2
here=$(dirname "${BASH_SOURCE[0]}")

browser=${FEEDLINE_BROWSER:-}
for name in chromium chromium-browser google-chrome chrome; do
  browser=${browser:-$(command -v "$name" || true)}
done
if [[ -z $browser ]]; then
  echo "[feedline skip] no Chromium is installed, so no browser opens the pages"
  exit 0
fi
rm -rf "$work"
mkdir -p "$work"
"$program" "$work"

# dom PAGE: the document as it is once the scripts have run.
dom() {
  # No sandbox: it refuses to run as root. Nothing but these pages is opened.
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --window-size=1400,800 \
    --user-data-dir="$work/profile" --virtual-time-budget=20000 --dump-dom "file://$1" \
    2>"$work/browser.log" || {
    cat "$work/browser.log" >&2
    echo "$browser could not open $1" >&2
    exit 1
  }
}

# probed PAGE: what trace_page_probe.html wrote down.
probed() {
  # A browser without a window shows no frames, so none is waited for.
  sed '1,/<head>/s|<head>|<head><script>requestAnimationFrame = (draw) => setTimeout(draw, 1);\
</script>|' "$work/$1.html" >"$work/$1-probed.html"
  cat "$here/trace_page_probe.html" >>"$work/$1-probed.html"
  dom "$work/$1-probed.html" >"$work/$1.dom"
  sed -n '/<pre id="probe">/,/<\/pre>/p' "$work/$1.dom" | sed 's/<[^>]*>//g' | sed '$d'
}

probed example >"$work/example.txt"
cat >"$work/expected.txt" <<'EOF'
ready: yes, 0 to 80, 9 events
names: fl-reader-0 | &lt;/script&gt;&lt;b&gt; "copy" &amp; 'more'\[line]éstream
colors: 31 111 235 255 | 217 115 13 255 | 0 0 0 0
zoomed in: 25 to 55, 4 events
moved by the wheel: 33 to 62, 4 events
zoomed out: 0 to 80, 9 events
by the button: 16 to 64, 5 events
dragged: 28 to 76, 7 events
all: 0 to 80, 9 events
tip: reading, batch 1 | 100 µs, from 200 µs to 300 µs | fl-reader-0, epoch 0
of another batch, a quarter as strong: 32 112 235 64
summary: fl-reader-0	thread	5	50 %	50 %	–	–	–	13 %	3
end
EOF
diff "$work/expected.txt" "$work/example.txt" || {
  echo "FAILED: the page of an example shows something else (right)" >&2
  exit 1
}

# No event, and very many: every step works, and nothing is missing.
for page in empty many; do
  probed "$page" >"$work/$page.txt"
  if grep '^error' "$work/$page.txt" || ! grep -q '^end$' "$work/$page.txt"; then
    cat "$work/$page.txt"
    echo "FAILED: the page $page.html cannot be used" >&2
    exit 1
  fi
done
grep -q 'ready: yes, 0 to 0, 0 events' "$work/empty.txt"
grep -q 'ready: yes, 0 to 20000, 200000 events' "$work/many.txt"
echo "$browser shows the pages"
