//! The registry: what a planned flow is made of. One line for each transport.
use super::mptcp::MptcpFlow;
use super::ptcp::PtcpFlow;
use super::r2cp::R2cpFlow;
use super::rcp::RcpFlow;
use super::striping::StripingFlow;
use super::tcp::TcpFlow;
use super::tcp::request_response::RequestResponse;
use super::transport::AnyTransport;
use super::udp::{Cbr, ParetoOnOff};
use prismux_plan::{Flow, Traffic, Transport};
use prismux_striping::Policy;

/// The transport of a planned flow.
pub(crate) fn planned(flow: &Flow) -> AnyTransport {
    let tcp = flow.tcp.config();
    match (&flow.traffic, &flow.transport) {
        (&Traffic::Cbr { rate, packet }, _) => Cbr { rate, packet_bytes: packet.as_u64() as u32 }.into(),
        (&Traffic::ParetoOnOff { rate, packet, on, off, shape }, _) => {
            let packet_bytes = packet.as_u64() as u32;
            ParetoOnOff { rate, packet_bytes, mean_on: on, mean_off: off, shape }.into()
        }
        (traffic, Transport::Rcp(settings)) => RcpFlow::planned(settings, traffic, &tcp).into(),
        (traffic, Transport::RcpEln(settings)) => {
            RcpFlow::planned(settings, traffic, &tcp).with_loss_notification().into()
        }
        (&Traffic::RequestResponse { request, response, think, exchanges }, _) => {
            let (request_bytes, response_bytes) = (request.as_u64(), response.as_u64());
            RequestResponse { tcp, request_bytes, response_bytes, think, exchanges }.into()
        }
        (&Traffic::Writes { size, every }, _) => {
            TcpFlow { writes: Some((size.as_u64(), every)), ..TcpFlow::new(tcp) }.into()
        }
        (&Traffic::Bulk { updates_every: Some(every), .. }, _) => {
            TcpFlow { updates_every: Some(every.as_u64()), ..TcpFlow::new(tcp) }.into()
        }
        (_, Transport::TcpPrism) => TcpFlow::new(tcp).with_loss_reports().into(),
        (_, Transport::TcpHo) => TcpFlow::new(tcp).with_handoff(Default::default()).into(),
        (_, Transport::TcpDoor(settings)) => TcpFlow::new(tcp).with_order_watch(settings).into(),
        (_, Transport::TcpEln) => TcpFlow::new(tcp).with_loss_notification().into(),
        (_, Transport::R2cp(settings)) => R2cpFlow::planned(settings, &tcp).into(),
        (_, Transport::Ptcp(settings)) => PtcpFlow::planned(settings, tcp).into(),
        (_, Transport::StripingUnaware(settings)) => {
            StripingFlow::planned(settings, tcp, Policy::Unaware).into()
        }
        (_, Transport::StripingSmart(settings)) => StripingFlow::planned(settings, tcp, Policy::Smart).into(),
        (_, Transport::Mptcp(settings)) => MptcpFlow::planned(settings, tcp).into(),
        // Datagrams are no bulk.
        (_, Transport::Tcp | Transport::Udp) => TcpFlow::new(tcp).into(),
    }
}
