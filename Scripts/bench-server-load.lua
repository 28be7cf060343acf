-- The clients of the row `load` of bench-server, for wrk: each connection asks for images that nobody asked for before,
-- and waits after a 429 as Retry-After says. Prints how many answers there were, and how long they took, by status.

local ffi = require("ffi")
ffi.cdef[[ typedef struct { long seconds; long nanoseconds; } instant; int clock_gettime(int clock, instant *now); ]]

local instant = ffi.new("instant")
local function milliseconds()
    ffi.C.clock_gettime(1, instant)
    return tonumber(instant.seconds) * 1000 + tonumber(instant.nanoseconds) / 1000000
end

-- The waits that the last answers ask for, until their connections are used again.
local waits, firstWait, lastWait = {}, 1, 0
local number = 0
admitted, refused, others = {}, {}, 0

local clients
function setup(thread) clients = thread end

function init()
    -- So that all of them do not come in one instant, which no crowd does.
    math.randomseed(1)
end

function delay()
    if firstWait > lastWait then return math.random(0, 2000) end
    local wait = waits[firstWait]
    waits[firstWait] = nil
    firstWait = firstWait + 1
    return wait
end

function request()
    number = number + 1
    local size = (200 + number % 400) .. ":" .. (100 + math.floor(number / 400) % 1000)
    local path = "/_/rs:fill:" .. size .. "/plain/local:///" .. number % 60 .. ".jpg@jpg"
    -- The server sends the identifier back.
    return wrk.format("GET", path, { ["X-Request-ID"] = string.format("%.3f", milliseconds()) })
end

function response(status, headers)
    local taken = milliseconds() - tonumber(headers["X-Request-ID"])
    lastWait = lastWait + 1
    waits[lastWait] = status == 429 and 1000 + math.random(0, 1000) or 0
    if status == 200 then
        admitted[#admitted + 1] = taken
    elseif status == 429 then
        refused[#refused + 1] = taken
    else
        others = others + 1
    end
end

function done(summary)
    for name, times in pairs({ admitted = clients:get("admitted"), refused = clients:get("refused") }) do
        table.sort(times)
        local last = times[math.max(1, math.ceil(#times * 0.99))] or 0
        print(string.format("%s %d %.1f", name, #times, last))
    end
    local errors = summary.errors
    print(string.format("lost %d", errors.connect + errors.read + errors.write + errors.timeout))
    print(string.format("others %d", clients:get("others")))
end
