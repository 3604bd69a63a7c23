# N bulk TCP flows through one bottleneck whose queue is managed by RED: the ns-2 side of the example `queues`.
#
#   ns queues.tcl flows=1 rate_mbps=10 delay_ms=15 limit=100 wait=1 warm=10 until=100 seed=1
#
# TCP/Sack1 to TCPSink/Sack1, one ACK per packet, timer granularity 10 ms, least timeout 0.2 s; flow i of N starts at
# i/N s. RED counts packets (5, 15, a tenth, 0.002, gentle), or with mean_bytes=500 bytes as packets of that size;
# with automatic=1 ns-2 finds thresholds and weight. Prints, after the word RESULT: the packets that wait
# (mean over time), the share of the bottleneck's rate that is used, drops, timeouts of all flows; all from `warm` to
# `until` seconds.

array set want {
    flows 1  rate_mbps 10  delay_ms 15  limit 100  wait 1  mean_bytes 0  automatic 0  warm 10  until 100  seed 1
}
foreach word $argv {
    set at [string first = $word]
    set want([string range $word 0 [expr {$at - 1}]]) [string range $word [expr {$at + 1}] end]
}

remove-all-packet-headers
add-packet-header IP TCP Flags
ns-random $want(seed)

Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 2
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set overhead_ 0

Queue/RED set thresh_ 5
Queue/RED set maxthresh_ 15
Queue/RED set linterm_ 10
Queue/RED set q_weight_ 0.002
Queue/RED set gentle_ true
Queue/RED set bytes_ [expr {$want(mean_bytes) > 0}]
Queue/RED set queue_in_bytes_ [expr {$want(mean_bytes) > 0}]
Queue/RED set mean_pktsize_ [expr {$want(mean_bytes) > 0 ? $want(mean_bytes) : 1040}]
if {$want(automatic)} {
    Queue/RED set thresh_ 0
    Queue/RED set maxthresh_ 0
    Queue/RED set q_weight_ 0
}
Queue/RED set wait_ $want(wait)

set sim [new Simulator]
set left [$sim node]
set right [$sim node]
$sim simplex-link $left $right $want(rate_mbps)Mb $want(delay_ms)ms RED
$sim simplex-link $right $left $want(rate_mbps)Mb $want(delay_ms)ms DropTail
$sim queue-limit $left $right $want(limit)
$sim queue-limit $right $left 100000

for {set i 0} {$i < $want(flows)} {incr i} {
    set source [$sim node]
    set sink [$sim node]
    foreach {a b} [list $source $left $right $sink] {
        $sim duplex-link $a $b 100Mb 2ms DropTail
        $sim queue-limit $a $b 100000
        $sim queue-limit $b $a 100000
    }
    set sender($i) [new Agent/TCP/Sack1]
    set receiver [new Agent/TCPSink/Sack1]
    $sim attach-agent $source $sender($i)
    $sim attach-agent $sink $receiver
    $sim connect $sender($i) $receiver
    set file [new Application/FTP]
    $file attach-agent $sender($i)
    $sim at [expr {double($i) / $want(flows)}] "$file start"
}

set monitor [$sim monitor-queue $left $right ""]
set integral [$monitor get-pkts-integrator]

# Integral of the packets that wait, bytes sent, drops, timeouts so far.
proc totals {} {
    global sim monitor integral sender want
    $integral newpoint [$sim now] [$monitor set pkts_]
    set timeouts 0
    for {set i 0} {$i < $want(flows)} {incr i} {
        incr timeouts [$sender($i) set nrexmit_]
    }
    return [list [$integral set sum_] [$monitor set bdepartures_] [$monitor set pdrops_] $timeouts]
}
proc finish {} {
    global begun want
    set span [expr {double($want(until) - $want(warm))}]
    foreach before $begun after [totals] { lappend grown [expr {$after - $before}] }
    lassign $grown waiting bytes drops timeouts
    puts "RESULT [expr {$waiting / $span}] [expr {$bytes * 8 / $span / $want(rate_mbps) / 1e6}] $drops $timeouts"
    exit 0
}
$sim at $want(warm) {set begun [totals]}
$sim at $want(until) finish
$sim run
