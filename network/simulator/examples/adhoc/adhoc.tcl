# One ad-hoc network in ns-2.35: ns adhoc.tcl key=value ...
array set P {
    kind transfer hosts 20 width 1000 height 750 seconds 200 seed 1 routing DSR sources "" movements "" traced 0
}
foreach a $argv { set at [string first = $a]; set P([string range $a 0 $at-1]) [string range $a $at+1 end] }
proc cpu {} {
    set f [open /proc/self/stat r]; set l [read $f]; close $f
    set l [string range $l [expr [string last ")" $l] + 2] end]
    expr [lindex $l 11] / 100.0
}
remove-all-packet-headers
add-packet-header Flags IP TCP RTP ARP LL Mac DSR AODV SR Message
ns-random $P(seed)
set ns_ [new Simulator]
$ns_ use-scheduler Calendar
set trace [open [expr {$P(traced) ? "/dev/stdout" : "/dev/null"}] w]
$ns_ trace-all $trace
set ground [new Topography]
$ground load_flatgrid $P(width) $P(height)
create-god $P(hosts)
Mac/802_11 set dataRate_ 2Mb
Mac/802_11 set basicRate_ 1Mb
Mac/802_11 set RTSThreshold_ 0
Phy/WirelessPhy set Pt_ 0.28183815
Phy/WirelessPhy set freq_ 914e+6
Phy/WirelessPhy set RXThresh_ 3.652e-10
Phy/WirelessPhy set CSThresh_ 1.559e-11
Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 32
Agent/TCP set windowInit_ 2
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.01
set on [expr {$P(traced) ? "ON" : "OFF"}]
$ns_ node-config -adhocRouting $P(routing) -llType LL -macType Mac/802_11 \
    -ifqType [expr {$P(routing) == "DSR" ? "CMUPriQueue" : "Queue/DropTail/PriQueue"}] -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy \
    -channel [new Channel/WirelessChannel] -topoInstance $ground \
    -agentTrace $on -routerTrace $on -macTrace $on -movementTrace OFF
for {set i 0} {$i < $P(hosts)} {incr i} { set node_($i) [$ns_ node]; $node_($i) random-motion 0 }
source $P(movements)
set connections {}
proc connection {from to} {
    global ns_ node_ connections
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1]
    $ns_ attach-agent $node_($from) $tcp
    $ns_ attach-agent $node_($to) $sink
    $ns_ connect $tcp $sink
    $tcp set fid_ [llength $connections]
    lappend connections $tcp
    return $tcp
}
proc datagrams {agent bytes interval start} {
    global ns_
    set source [new Application/Traffic/CBR]
    $source attach-agent $agent
    $source set packetSize_ $bytes
    $source set interval_ $interval
    $source set random_ 0
    $ns_ at $start "$source start"
}
if {$P(kind) == "transfer"} {
    set ftp [new Application/FTP]
    $ftp attach-agent [connection 0 1]
    $ns_ at 0.0 "$ftp start"
} elseif {$P(kind) == "cell"} {
    for {set i 1} {$i < $P(hosts)} {incr i} { datagrams [connection $i 0] 1000 0.5 [expr $i * 0.01] }
} else {
    foreach {from to start} $P(sources) {
        set udp [new Agent/UDP]
        set sink [new Agent/Null]
        $ns_ attach-agent $node_($from) $udp
        $ns_ attach-agent $node_($to) $sink
        $ns_ connect $udp $sink
        datagrams $udp 64 0.25 $start
    }
}
proc finish {} {
    global P connections before ns_ trace
    set took [expr [cpu] - $before]
    set acknowledged 0
    set timeouts 0
    foreach tcp $connections {
        set last [$tcp set ack_]
        if {$last > 0} { incr acknowledged $last }
        incr timeouts [$tcp set nrexmit_]
    }
    $ns_ flush-trace
    close $trace
    puts "RESULT $took [expr $acknowledged * 8.0 / $P(seconds)] $timeouts"
    exit 0
}
$ns_ at 0.0 "set before \[cpu\]"
$ns_ at $P(seconds) "finish"
$ns_ run
