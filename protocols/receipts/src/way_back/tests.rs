use super::*;

const RTT: u64 = 40;

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// A member with neighbours whose receivers send every millisecond from `uses`.
struct Story {
    member: WayBack,
    /// When the member's own link passes packets, by milliseconds.
    own: fn(u64) -> bool,
    /// Whether data come from the proxy, while the link passes packets.
    data: bool,
    neighbours: Vec<fn(u64) -> bool>,
    /// Questions to the proxy.
    questions: u64,
}

impl Story {
    fn new(own: fn(u64) -> bool, data: bool, neighbours: Vec<fn(u64) -> bool>) -> Self {
        let mut member = WayBack::new(neighbours.len(), 0);
        member.measured(Duration::from_millis(RTT));
        Self { member, own, data, neighbours, questions: 0 }
    }

    /// The way of the packet in each millisecond.
    fn run(&mut self, millis: core::ops::Range<u64>) -> Vec<Option<usize>> {
        let mut answers: Vec<(u64, Question)> = Vec::new();
        let mut ways = Vec::new();
        for time in millis {
            let now = at(time);
            let (due, later) = answers.into_iter().partition(|(due, _)| *due <= time);
            answers = later;
            for (_, question) in Vec::<(u64, Question)>::from_iter(due) {
                match question {
                    Question::Proxy { number } if (self.own)(time) => self.member.answered(now, number),
                    Question::Proxy { .. } => {}
                    Question::Neighbour { index, number } => {
                        self.member.neighbour_answered(now, index, number);
                    }
                }
            }
            if self.data && (self.own)(time) {
                self.member.heard(now);
            }
            ways.push(self.member.way(now));
            while let Some(question) = self.member.poll_question(now) {
                match question {
                    Question::Proxy { .. } => {
                        self.questions += 1;
                        if (self.own)(time) {
                            answers.push((time + RTT, question));
                        }
                    }
                    Question::Neighbour { index, .. } if (self.neighbours[index])(time) => {
                        answers.push((time + 1, question));
                    }
                    Question::Neighbour { .. } => {}
                }
            }
        }
        ways
    }
}

#[test]
fn a_member_over_which_data_come_asks_nothing() {
    let mut story = Story::new(|_| true, true, vec![|_| true]);
    assert!(story.run(0..2000).iter().all(Option::is_none));
    assert_eq!(story.questions, 0);
}

#[test]
fn a_link_that_brings_nothing_but_answers_is_used() {
    let mut story = Story::new(|_| true, false, vec![|_| true]);
    assert!(story.run(0..2000).iter().all(Option::is_none));
    assert!((15..=40).contains(&story.questions), "{}", story.questions);
}

#[test]
fn a_silent_member_hands_over_within_three_hundred_milliseconds_and_takes_back_soon_after_the_return() {
    for data in [true, false] {
        let mut story = Story::new(|time| !(1000..4000).contains(&time), data, vec![|_| true]);
        let ways = story.run(0..6000);
        let handed = ways.iter().position(Option::is_some).unwrap();
        assert!((1050..1250).contains(&handed), "data {data}: {handed}");
        assert!(ways[handed..4000].iter().all(|way| *way == Some(0)));
        let back = ways.iter().rposition(Option::is_some).unwrap();
        assert!((4000..4600).contains(&back), "data {data}: {back}");
        let events = core::iter::from_fn(|| story.member.poll_event()).collect::<Vec<_>>();
        assert_eq!(events, [WayBackEvent::Silent, WayBackEvent::Answers]);
    }
}

#[test]
fn a_neighbour_that_is_silent_too_is_left_for_the_next_and_without_any_the_own_link_remains() {
    let own = |time: u64| time < 1000;
    let mut story = Story::new(own, true, vec![|time| time < 2000, |time| time < 3000]);
    let ways = story.run(0..5000);
    assert_eq!(ways[1900], Some(0));
    assert_eq!(ways[2700], Some(1));
    assert_eq!(ways[3800], None, "nobody answers");
}

#[test]
fn an_idle_member_asks_nothing_and_forgets_a_silence() {
    let mut member = WayBack::new(1, 0);
    assert_eq!(member.deadline(), None);
    member.way(at(5000));
    assert_eq!(member.deadline(), Some(at(5060)));
    let mut time = 5000;
    while time < 60_000 {
        let Some(due) = member.deadline() else { break };
        time = due.saturating_since(Instant::ZERO).as_millis() + 1;
        while member.poll_question(at(time)).is_some() {}
    }
    assert!((14_000..17_000).contains(&time), "{time}");
    assert!(!member.is_silent());
}

#[test]
fn a_member_that_the_proxy_does_not_know_uses_a_neighbour_until_it_is_registered() {
    let mut story = Story::new(|_| false, false, vec![|_| true]);
    story.member.unregistered(at(0));
    let ways = story.run(0..3000);
    assert!(ways[10..].iter().all(|way| *way == Some(0)));
    assert_eq!(story.questions, 0, "its registration asks");
    assert!(!story.member.asked(at(3000)));
    story.member.registered(at(3000));
    assert_eq!(story.member.way(at(3001)), None);
}

#[test]
fn answers_to_questions_of_an_earlier_life_count_for_nothing() {
    let mut member = WayBack::new(1, 1000);
    member.way(at(0));
    member.unregistered(at(0));
    assert_eq!(member.poll_question(at(0)), Some(Question::Neighbour { index: 0, number: 1001 }));
    member.neighbour_answered(at(1), 0, 7);
    assert_eq!(member.way(at(2)), None);
    member.neighbour_answered(at(2), 0, 1001);
    assert_eq!(member.way(at(3)), Some(0));
}

#[test]
fn whoever_looks_late_is_not_told_to_look_at_once_for_ever() {
    let mut member = WayBack::new(1, 0);
    member.way(at(0));
    for late in [3000, 9000, 30_000] {
        while member.poll_question(at(late)).is_some() {}
        assert!(member.deadline().is_none_or(|due| due > at(late)), "{late}");
    }
}

#[test]
fn a_neighbour_that_asks_makes_a_member_find_out() {
    let mut member = WayBack::new(1, 0);
    assert!(member.asked(at(0)), "nothing is known against it");
    for time in 0..600 {
        if time % 200 == 0 {
            member.asked(at(time));
        }
        while member.poll_question(at(time)).is_some() {}
    }
    assert!(!member.asked(at(600)));
}
