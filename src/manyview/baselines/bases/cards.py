"""Cards of the baselines: what to know about each method before choosing it."""

from manyview.base.method_card import MethodCard

_CARDS = (
    # the twelve methods of the paper's comparison, in its order
    MethodCard(
        name="knn",
        title="KNN",
        paper="Cover, Hart: Nearest neighbor pattern classification. IEEE Transactions on "
        "Information Theory",
        year=1967,
        cost="l x m x d",
    ),
    MethodCard(
        name="svm",
        title="SVM",
        paper="Cortes, Vapnik: Support-vector networks. Machine Learning",
        year=1995,
        cost="l^2 x d, and l x m x d for the predictions",
        version=2,  # 1 had the kernel "rbf"
    ),
    MethodCard(
        name="amgl",
        title="AMGL",
        paper="Nie, Li, Li: Parameter-free auto-weighted multiple graph learning: a framework "
        "for multiview clustering and semi-supervised classification. IJCAI",
        year=2016,
        cost="m^2 d for the graphs; a sparse linear system of m V k entries per iteration",
    ),
    MethodCard(
        name="mvar",
        title="MVAR",
        paper="Tao, Hou, Nie, Zhu, Yi: Scalable multi-view semi-supervised classification via "
        "adaptive regression. IEEE Transactions on Image Processing",
        year=2017,
        cost="m x d^2 + d^3 per view and iteration, or m^3 where there are more features",
    ),
    MethodCard(
        name="mlan",
        title="MLAN",
        paper="Nie, Cai, Li: Multi-view clustering and semi-supervised classification with "
        "adaptive neighbors. AAAI",
        year=2017,
        cost="m^2 d for the neighbors; a sparse linear system of m k entries per iteration",
    ),
    MethodCard(
        name="awdr",
        title="AWDR",
        paper="Yang, Deng, Nie: Adaptive-weighting discriminative regression for multi-view "
        "classification. Pattern Recognition",
        year=2019,
        cost="l^2 x d once, min(l, d)^3 per iteration",
    ),
    MethodCard(
        name="hlr-m2vs",
        title="HLR-M2VS",
        paper="Xie, Zhang, Qu, Dai, Tao: Hyper-Laplacian regularized multilinear multiview "
        "self-representations for clustering and semisupervised learning. IEEE Trans. Cybernetics",
        year=2020,
        cost="V m^3 per iteration, 22 of them; 5 V m^2 numbers of memory",
    ),
    MethodCard(
        name="erl-mvsc",
        title="ERL-MVSC",
        paper="Huang, Wang, Zheng, Zhao, Lin: Embedding regularizer learning for multi-view "
        "semi-supervised classification. IEEE TIP",
        year=2021,
        cost="m^2 d for the graphs; (m V k + l^2) c per iteration",
    ),
    MethodCard(
        name="dsrl",
        title="DSRL",
        paper="Wang, Chen, Du, Lin: Learning deep sparse regularizers with applications to "
        "multi-view clustering and semi-supervised classification. IEEE TPAMI",
        year=2022,
        cost="m^2 d for the graphs; m V k + l^2 per epoch",
    ),
    MethodCard(
        name="gcn-fusion",
        title="GCN fusion",
        paper="Kipf, Welling: Semi-supervised classification with graph convolutional networks. "
        "ICLR",
        year=2017,
        cost="edges x hidden per epoch",
    ),
    MethodCard(
        name="co-gcn",
        title="Co-GCN",
        paper="Li, Li, Wang: Co-GCN for multi-view semi-supervised learning. AAAI",
        year=2020,
        cost="V x edges x hidden per epoch",
    ),
    MethodCard(
        name="ssgcn",
        title="SSGCN",
        paper="Zhu, Koniusz: Simple spectral graph convolution. ICLR",
        year=2021,
        cost="K x edges x min(l, d), once; l x d per epoch",
    ),
    # newer than the paper, on the same graphs
    MethodCard(
        name="grand",
        title="GRAND",
        paper="Feng, Zhang, Dong, Han, Luan, Xu, Yang, Kharlamov, Tang: Graph random neural "
        "networks for semi-supervised learning on graphs. NeurIPS",
        year=2020,
        cost="S x K x edges x hidden per epoch",
    ),
    # what users of scikit-learn would try first
    MethodCard(
        name="label-spreading",
        title="Label spreading",
        paper="Zhou, Bousquet, Lal, Weston, Schölkopf: Learning with local and global "
        "consistency. NIPS",
        year=2003,
        cost="m^2 x d for the neighbors, m x k per iteration",
    ),
    MethodCard(
        name="self-training",
        title="Self-training",
        paper="Yarowsky: Unsupervised word sense disambiguation rivaling supervised methods. ACL",
        year=1995,
        cost="m^2 x d per iteration, ten iterations",
    ),
    MethodCard(
        name="logistic-regression",
        title="Logistic regression",
        paper="Cox: The regression analysis of binary sequences. Journal of the Royal "
        "Statistical Society B",
        year=1958,
        cost="l x d per iteration",
    ),
    MethodCard(
        name="random-forest",
        title="Random forest",
        paper="Breiman: Random forests. Machine Learning",
        year=2001,
        cost="l x log(l)^2 x sqrt(d) per tree, and m x log(l) for its predictions; 300 trees",
    ),
    MethodCard(
        name="hist-gradient-boosting",
        title="Gradient boosting",
        paper="Ke, Meng, Finley, Wang, Chen, Ma, Ye, Liu: LightGBM: a highly efficient gradient "
        "boosting decision tree. NIPS",
        year=2017,
        cost="l x d per tree, and m x log(l) for its predictions; 100 trees per class",
    ),
)
CARDS = {card.name: card for card in _CARDS}
