#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
#   drive.sh NONLOCAL SCREEN WORK
#
# Drives the real window under Xvfb as a hand would: start, click, drag, wheel, keys, resize, hide,
# close; and compares what is on the screen with what `render` draws, by OpenGL and OpenGL ES.
# SCREEN is the program made of screen.c, WORK a folder to write to. Speed never decides: figures
# are printed as "# ..." lines. Without Xvfb or xdotool a person's run is skipped (77), CI's fails.
set -uo pipefail

program=$1 screen=$2 work=$3/drive
cases=15 number=0 failed=0
width=1280 height=800
timings=900,776,380,24 # where the status strip has milliseconds; the pointer rests there too
xserver='' window='' pid=''

say() { echo "# $*"; }

ok() { # ok NAME COMMAND...: a case that passes when the command does
    local name=$1
    shift
    ((number += 1))
    if "$@"; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        ((failed += 1))
    fi
}

missing() {
    if [ "${CI-}" = true ]; then
        printf '1..1\nnot ok 1 - %s\n' "$*"
        exit 1
    fi
    echo "1..0 # SKIP $*"
    exit 77
}

# Ends a process that this script started.
end() { [ -z "$1" ] || { kill "$1" && wait "$1"; } 2>/dev/null; }

finish() {
    end "$pid"
    end "$xserver"
    rm -rf "$work/screen"
}
trap finish EXIT
trap 'exit 1' INT TERM

# --- The screen --------------------------------------------------------------------------------

start_screen() {
    rm -rf "$work"
    mkdir -p "$work/screen" || exit 1
    # Xvfb finds a free display itself and writes its number.
    Xvfb -displayfd 4 -noreset -nolisten tcp -screen 0 ${width}x${height}x24 \
        -fbdir "$work/screen" 4>"$work/display" 2>"$work/xvfb.log" &
    xserver=$!
    local i
    for ((i = 0; i < 100; i++)); do
        [ ! -s "$work/display" ] || break
        kill -0 "$xserver" 2>/dev/null || break
        sleep 0.1
    done
    [ -s "$work/display" ] || missing "Xvfb does not start: $(tail -n 1 "$work/xvfb.log")"
    DISPLAY=:$(<"$work/display")
    export DISPLAY
    unset WAYLAND_DISPLAY SDL_VIDEODRIVER
    away
}

# The pointer where it hovers nothing.
away() { xdotool mousemove $((width - 1)) $((height - 1)); }

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local end=$(($(now_ms) + $1 * 1000))
    shift
    until "$@"; do
        (($(now_ms) < end)) || return 1
        sleep 0.01
    done
}

# launch [OPTION...]: the program in a window that fills the screen.
launch() {
    NONLOCAL_FRAMES=1 "$program" "$@" --size ${width}x$height >"$work/out" 2>"$work/frames" &
    pid=$!
}

# Once there is something in it.
has_window() {
    window=''
    wait_for 30 find_window || { say "no window: $(tail -n 3 "$work/frames")"; return 1; }
}

find_window() {
    window=$(xdotool search --onlyvisible --name '^Nonlocal$' 2>/dev/null | head -n 1)
    [ -n "$window" ]
}

# No window manager gives the window the keyboard.
focus() { xdotool windowfocus "$window"; }

has_ended() { ! kill -0 "$pid" 2>/dev/null; }

ended_with() { # ended_with STATUS
    local status=0
    wait_for 20 has_ended || return 1
    wait "$pid" || status=$?
    pid=''
    ((status == $1)) || say "exit status $status: $(grep -v '^frame' "$work/frames" | tail -n 3)"
    ((status == $1))
}

is_alive() { kill -0 "$pid" 2>/dev/null; }

shows() { # shows PICTURE: the screen is this picture, but for the timings
    "$screen" same "$work/screen/Xvfb_screen0" "$1" 0,0 $timings "$work/diff.png" >"$work/same"
}
shows_in_time() { wait_for 20 shows "$1" || { say "$(<"$work/same"); see $work/diff.png"; return 1; }; }
shows_no_more() { wait_for 20 eval "! shows '$1'"; }

render() { # render OUT [OPTION...]
    "$program" render -o "$@" --size ${width}x$height
}

# --- What the program's log says ---------------------------------------------------------------

frames() { grep -c '^frame' "$work/frames"; }
more_frames() { (($(frames) > $1)); }

# Until nothing has been drawn for a while.
rest() {
    local before=-1
    until [ "$before" = "$(frames)" ]; do
        before=$(frames)
        sleep 0.3
    done
}

# after_input FROM: the largest after_input_ms of the frames since line FROM, which is the one
# that shows the map.
after_input() {
    tail -n +"$1" "$work/frames" | awk '/^frame/ && $4 > worst { worst = $4 } END { print worst + 0 }'
}

cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }

# --- The cases ---------------------------------------------------------------------------------

# What the window does from the first moment on, with one kind of GL.
first_view() {
    local start
    start=$(now_ms)
    export NONLOCAL_GL=$1
    launch
    shows_in_time "$work/first.png" || return 1
    say "$1: start to the first full view $(($(now_ms) - start)) ms (wanted: under 1000)"
    has_window
}

same_with_gles() {
    NONLOCAL_GL=gles render "$work/first-gles.png" &&
        "$screen" same "$work/first-gles.png" "$work/first.png" 0,0 $timings
}

click_at() { xdotool mousemove "$1" "$2" click 1; }

# Twenty clicks all over the picture of 64 × 64 patches.
latency() {
    local i from worst=() x y
    rest
    for ((i = 0; i < 20; i++)); do
        from=$(($(wc -l <"$work/frames") + 1))
        x=$((310 + i % 5 * 70)) y=$((100 + i * 13 % 300))
        click_at $x $y
        wait_for 10 more_frames $((from - 1)) || return 1
        rest
        worst+=("$(after_input $from)")
    done
    printf '%s\n' "${worst[@]}" | sort -g | awk '{ v[NR] = $1 }
        END { printf "# click to its map at n = 4096: median %.1f ms, worst %.1f ms (wanted: under 50)\n", v[int((NR + 1) / 2)], v[NR] }'
}

# One process that moves the pointer every 4 ms or so, faster than any screen.
drag() {
    local i moves=() before start spent
    for ((i = 0; i < 400; i++)); do
        moves+=(mousemove $((400 + (i * 7) % 180)) $((120 + (i * 5) % 200)) sleep 0.004)
    done
    rest
    xdotool mousemove 400 120 mousedown 1
    before=$(frames) start=$(now_ms)
    xdotool "${moves[@]}"
    spent=$(($(now_ms) - start))
    local drawn=$(($(frames) - before))
    xdotool mouseup 1
    say "drag of the query at ${width}x$height, n = 4096: $((drawn * 1000 / spent)) frames a second" \
        "($drawn in $spent ms; draw_ms median $(tail -n $drawn "$work/frames" | awk '/^frame/ { print $6 }' |
            sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'); wanted: 60)"
    ((drawn > 10))
}

idle() {
    local before spent drawn
    away
    rest
    before=$(cpu_ticks) drawn=$(frames)
    sleep 5
    spent=$(($(cpu_ticks) - before))
    drawn=$(($(frames) - drawn))
    say "idle for 5 s: $(awk -v t=$spent -v hz="$(getconf CLK_TCK)" 'BEGIN { printf "%.1f", t / hz / 5 * 100 }') % of a processor, $drawn frames drawn (wanted: under 1 %)"
    ((drawn == 0))
}

wheel() {
    local before
    xdotool mousemove 450 250
    rest
    before=$(frames)
    xdotool click --repeat 3 4
    wait_for 10 more_frames "$before"
    rest
    focus
    xdotool key f
    away
    rest
}

# F6 twice is what there was; once is not.
keys() {
    focus
    xdotool key F6
    shows_no_more "$work/first.png" || return 1
    xdotool key F6
    shows_in_time "$work/first.png"
}

undo() { # a click, and back
    click_at 450 250
    away
    shows_no_more "$work/first.png" || return 1
    focus
    xdotool key ctrl+z
    shows_in_time "$work/first.png"
}

scenes() {
    focus
    xdotool key F3
    shows_in_time "$work/table.png" || return 1
    xdotool key F2
    shows_in_time "$work/first.png"
}

resize() {
    local size
    for size in '1 1' '640 400' '3 700' '1000 1' "$width $height"; do
        # shellcheck disable=SC2086 # two words
        xdotool windowsize "$window" $size
        sleep 0.2
        is_alive || return 1
    done
    xdotool windowmove "$window" 0 0
    shows_in_time "$work/first.png"
}

# Without a window manager nothing minimises; the window is taken off the screen and put back.
hide() {
    xdotool windowunmap "$window"
    sleep 0.3
    is_alive || return 1
    xdotool windowmap --sync "$window" windowmove "$window" 0 0
    shows_in_time "$work/first.png"
}

close_by_key() {
    focus
    xdotool key ctrl+q
    ended_with 0
}

close_by_signal() {
    kill -TERM "$pid"
    ended_with $((128 + 15))
}

# A file that is none: the window comes up all the same, with the sample and a message.
bad_file() {
    echo 'no picture' >"$work/none.png"
    launch "$work/none.png"
    has_window || return 1
    rest
    is_alive && ! shows "$work/first.png"
}

for tool in Xvfb xdotool; do
    command -v $tool >/dev/null || missing "$tool is not installed (Debian: xvfb, xdotool)"
done
start_screen
echo "1..$cases"

export NONLOCAL_GL=gl
render "$work/first.png" || exit 1
render "$work/table.png" @iris || exit 1
ok 'offscreen: OpenGL and OpenGL ES draw the same' same_with_gles
ok 'window: OpenGL ES shows what is rendered offscreen' first_view gles
ok 'a signal ends it at once' close_by_signal
ok 'window: OpenGL shows what is rendered offscreen' first_view gl
ok 'keys' keys
ok 'a click, and undo' undo
ok 'scenes' scenes
ok 'resize to one pixel and back' resize
ok 'hide and show' hide
ok 'close by key' close_by_key

ok 'a bad file' bad_file
end "$pid"

"$screen" picture 256x256 "$work/grid.ppm"
launch "$work/grid.ppm" --patch 12 --stride 4
has_window || exit 1
wait_for 30 more_frames 2
rest
ok 'click' latency
ok 'drag' drag
ok 'wheel' wheel
ok 'idle' idle
close_by_key || say 'the window did not close'
exit $((failed > 0))
