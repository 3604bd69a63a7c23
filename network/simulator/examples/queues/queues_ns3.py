"""Bulk TCP flows through one bottleneck with a managed queue: the ns-3 side of the example `queues`.

    python queues_ns3.py flows=4 discipline=CoDel rate_mbps=10 delay_ms=15 limit=1000 warm=10 until=100 seed=1

NewReno with SACK, one ACK per packet, initial window 2, least timeout 0.2 s; flow i of N starts at i/N s. The device
behind the queue discipline holds one packet more. Prints, after the word RESULT: the packets that wait (mean of
samples every millisecond), the share of the bottleneck's rate that is used, drops; all from `warm` to `until` seconds.
"""

import sys

from ns import ns

want = dict(word.split("=", 1) for word in sys.argv[1:])

ns.cppyy.cppdef(r"""
#include <cstdio>
using namespace ns3;

struct Totals { double waiting = 0; uint64_t samples = 0, dropped = 0, bytes = 0; };
static Totals totals;

static void Sample(Ptr<QueueDisc> queue) {
    totals.waiting += queue->GetNPackets();
    totals.samples++;
    Simulator::Schedule(MilliSeconds(1), &Sample, queue);
}

static void Begin(Ptr<QueueDisc> queue) {
    totals.dropped = queue->GetStats().nTotalDroppedPackets;
    totals.bytes = queue->GetStats().nTotalDequeuedBytes;
    Sample(queue);
}

static void Defaults() {
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(10000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(10000000));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    auto type = [](const char *name) { return TypeIdValue(TypeId::LookupByName(name)); };
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", type("ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", type("ns3::TcpClassicRecovery"));
}

void Compare(std::string discipline, int flows, std::string rate, std::string delay, std::string limit, double warm,
             double until, int seed) {
    RngSeedManager::SetRun(seed);
    Defaults();
    NodeContainer routers, sources, sinks;
    routers.Create(2);
    sources.Create(flows);
    sinks.Create(flows);
    InternetStackHelper stack;
    stack.InstallAll();
    PointToPointHelper access, bottleneck;
    access.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
    access.SetChannelAttribute("Delay", StringValue("2ms"));
    bottleneck.SetDeviceAttribute("DataRate", StringValue(rate));
    bottleneck.SetChannelAttribute("Delay", StringValue(delay));
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    NetDeviceContainer ends = bottleneck.Install(routers);
    TrafficControlHelper managed, plain;
    managed.SetRootQueueDisc("ns3::" + discipline + "QueueDisc", "MaxSize", StringValue(limit));
    plain.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("100000p"));
    Ptr<QueueDisc> queue = managed.Install(ends.Get(0)).Get(0);
    plain.Install(ends.Get(1));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(ends);
    for (int i = 0; i < flows; i++) {
        NetDeviceContainer up = access.Install(sources.Get(i), routers.Get(0));
        NetDeviceContainer down = access.Install(routers.Get(1), sinks.Get(i));
        plain.Install(up);
        plain.Install(down);
        addresses.SetBase(("10.1." + std::to_string(i) + ".0").c_str(), "255.255.255.0");
        addresses.Assign(up);
        addresses.SetBase(("10.2." + std::to_string(i) + ".0").c_str(), "255.255.255.0");
        Address to = InetSocketAddress(addresses.Assign(down).GetAddress(1), 5000);
        BulkSendHelper source("ns3::TcpSocketFactory", to);
        source.SetAttribute("SendSize", UintegerValue(1000));
        source.Install(sources.Get(i)).Start(Seconds(double(i) / flows));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
        sink.Install(sinks.Get(i)).Start(Seconds(0));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Schedule(Seconds(warm), &Begin, queue);
    Simulator::Stop(Seconds(until));
    Simulator::Run();
    const QueueDisc::Stats &stats = queue->GetStats();
    double used = (stats.nTotalDequeuedBytes - totals.bytes) * 8 / (until - warm) / DataRate(rate).GetBitRate();
    unsigned long long dropped = stats.nTotalDroppedPackets - totals.dropped;
    printf("\nRESULT %f %f %llu\n", totals.waiting / totals.samples, used, dropped);
    fflush(stdout);
    Simulator::Destroy();
}
""")
ns.cppyy.gbl.Compare(
    want["discipline"],
    int(want["flows"]),
    f"{want['rate_mbps']}Mbps",
    f"{want['delay_ms']}ms",
    f"{want['limit']}p",
    float(want["warm"]),
    float(want["until"]),
    int(want["seed"]),
)
