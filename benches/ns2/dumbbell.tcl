# N bulk TCP flows through one bottleneck, a source node and a sink node each: what `sim-speed` compares against.
#
#   ns dumbbell.tcl flows=20 rate=10Mb delay=30ms access_rate=20Mb access_delay=2ms queue=100 segment=1000 until=300
#
# TCP/Sack1 to TCPSink/Sack1, one ACK per packet, initial window 2, timer granularity 10 ms, least timeout 0.2 s; flow i
# of N starts at i/N s. Routes are set by hand and headers that no packet uses are left out: the fast way to use ns-2.
# Prints one line of JSON. CPU time is what the scheduler has charged to this process, from the start of the run on.

array set want {
    flows 20  rate 10Mb  delay 30ms  access_rate 20Mb  access_delay 2ms  queue 100  segment 1000  until 300
}
foreach word $argv {
    set at [string first = $word]
    set want([string range $word 0 [expr {$at - 1}]]) [string range $word [expr {$at + 1}] end]
}

proc cpu_ns {} {
    set file [open /proc/self/schedstat]
    gets $file line
    close $file
    return [lindex $line 0]
}

remove-all-packet-headers
add-packet-header IP TCP Flags

Agent/TCP set packetSize_ $want(segment)
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 2
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set overhead_ 0

set sim [new Simulator]
$sim use-scheduler Calendar
$sim rtproto Manual

proc join_nodes {a b rate delay queue} {
    global sim
    $sim duplex-link $a $b $rate $delay DropTail
    $sim queue-limit $a $b $queue
    $sim queue-limit $b $a $queue
}
proc routes {node} { $node get-module Manual }

set left [$sim node]
set right [$sim node]
join_nodes $left $right $want(rate) $want(delay) $want(queue)

for {set i 0} {$i < $want(flows)} {incr i} {
    set source [$sim node]
    set sink [$sim node]
    # Deep queues at the edges: only the bottleneck loses packets.
    join_nodes $source $left $want(access_rate) $want(access_delay) 100000
    join_nodes $right $sink $want(access_rate) $want(access_delay) 100000
    [routes $source] add-route-to-adj-node -default $left
    [routes $sink] add-route-to-adj-node -default $right
    [routes $left] add-route-to-adj-node $source
    [routes $right] add-route-to-adj-node $sink

    set sender($i) [new Agent/TCP/Sack1]
    set receiver [new Agent/TCPSink/Sack1]
    $sim attach-agent $source $sender($i)
    $sim attach-agent $sink $receiver
    $sim connect $sender($i) $receiver
    set file [new Application/FTP]
    $file attach-agent $sender($i)
    $sim at [expr {double($i) / $want(flows)}] "$file start"
}
[routes $left] add-route-to-adj-node -default $right
[routes $right] add-route-to-adj-node -default $left

proc finish {} {
    global want sender begun
    set run_s [expr {([cpu_ns] - $begun) / 1e9}]
    set delivered 0
    for {set i 0} {$i < $want(flows)} {incr i} {
        set acked [$sender($i) set ack_]
        if {$acked > 0} { incr delivered $acked }
    }
    puts "{\"setup_cpu_s\":[expr {$begun / 1e9}],\"run_cpu_s\":$run_s,\"delivered_packets\":$delivered}"
    exit 0
}
$sim at 0.0 {set begun [cpu_ns]}
$sim at $want(until) finish
$sim run
