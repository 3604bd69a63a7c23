use super::correlation;

#[test]
fn series_that_mirror_each_other_correlate_by_minus_one() {
    let there = [1.0, 4.0, 2.0, 8.0];
    let back: Vec<f64> = there.iter().map(|value| 10.0 - value).collect();
    assert!((correlation(&there, &back).expect("both vary") + 1.0).abs() < 1e-12);
    assert!((correlation(&there, &there).expect("it varies") - 1.0).abs() < 1e-12);
}

#[test]
fn what_does_not_vary_correlates_with_nothing() {
    assert_eq!(correlation(&[1.0, 2.0], &[3.0, 3.0]), None);
    assert_eq!(correlation(&[], &[]), None);
}
