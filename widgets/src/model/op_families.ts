// Op types grouped by purpose, since a graph of a thousand ops is easier to read in a dozen groups.

const FAMILIES: [string, RegExp[]][] = [
  [
    "variable",
    [
      /^(Ref)?(Variable|VarHandle|VarIsInit|ReadVariable|Assign|IsVariable)/,
      /^(TemporaryVariable|DestroyResource)|^Scatter(Update|Add|Sub|Mul|Div|Nd\w+)$|^ResourceScatter/,
    ],
  ],
  ["update", [/^(Resource)?(Sparse)?Apply|^ResourceSparseApply/]],
  ["feed", [/^Placeholder/]],
  ["constant", [/^(Const|HostConst|OnesLike|ZerosLike|Fill|Range|LinSpace|ImmutableConst)/]],
  [
    "random",
    [/^(Random|TruncatedNormal|ParameterizedTruncated|Multinomial|Stateless(Random|Trunc|Multi))/, /CandidateSampler$/],
  ],
  [
    "flow",
    [
      /^(Ref)?(Switch|Merge|Enter|Exit|NextIteration|LoopCond|NoOp|Assert|Abort)$/,
      /^(ControlTrigger|If|While|Case)$|^TensorArray|^Stack/,
    ],
  ],
  ["product", [/MatMul|^Conv\d|^Depthwise|^Einsum|^Dilation|^Cholesky|^Qr|^Svd|^Matrix/]],
  [
    "network",
    [
      /^(Relu|Relu6|LeakyRelu|Elu|Selu|Softmax|LogSoftmax|Softplus|Softsign|Sigmoid|Tanh)/,
      /^(BiasAdd|L2Loss|LRN|InTopK|TopK|CTC|Dropout)|^FusedBatchNorm|^(Avg|Max|Fractional\w+)Pool/,
      /CrossEntropy|^(Sigmoid|Tanh)Grad|(LSTM|GRU)/,
    ],
  ],
  ["reduction", [/^(Sum|Mean|Prod|Max|Min|Any|All|ArgMax|ArgMin|EuclideanNorm|Cumsum|Cumprod|Bincount)$|Segment/]],
  [
    "shape",
    [
      /^(Reshape|Transpose|Concat|Split|Pack|Unpack|Slice|StridedSlice|Gather|Pad)/,
      /^(MirrorPad|Tile|ExpandDims|Squeeze|Shape|ShapeN|Rank|Size|Cast|Bitcast|Identity)/,
      /^(IdentityN|Snapshot|StopGradient|PreventGradient|Reverse|OneHot|Where|Unique)/,
      /^(DynamicPartition|DynamicStitch|InvertPermutation|BroadcastTo)/,
      /^(BroadcastGradientArgs|BroadcastArgs|SpaceTo|DepthTo|BatchToSpace|ConcatOffset)/,
    ],
  ],
  [
    "file and queue",
    [/Queue|Save|Restore|File|Reader|Summary|^Print|^Decode|^Parse|Iterator|Dataset|^PyFunc|^Lookup/, /HashTable/],
  ],
  [
    "arithmetic",
    [
      /^(Add|Sub|Mul|Div|RealDiv|FloorDiv|FloorMod|Mod|Truncate\w+|Pow|Square|Sqrt|Rsqrt)/,
      /^(Exp|Log|Log1p|Expm1|Neg|Abs|Sign|Inv|Reciprocal|Maximum|Minimum|Floor|Ceil|Round)/,
      /^(Rint|Sin|Cos|Tan|Asin|Acos|Atan|Sinh|Cosh|Erf|Erfc|Lgamma|Digamma)/,
      /^(SquaredDifference|Select|Greater|Less|Equal|NotEqual|Logical\w+|IsNan|IsInf)/,
      /^(IsFinite|ClipByValue|Real|Imag|Conj|Complex)/,
    ],
  ],
];

/** "product" for a MatMul, "other" for what none of them knows. */
export function familyOf(type: string): string {
  return FAMILIES.find(([, patterns]) => patterns.some((pattern) => pattern.test(type)))?.[0] ?? "other";
}

export const isVariable = (type: string): boolean => /^(Variable|VariableV2|VarHandleOp)$/.test(type);

export const isPlaceholder = (type: string): boolean => /^Placeholder/.test(type);

/** Ops of branches and loops that pass a value on without computing one. */
export const passesValuesOn = (type: string): boolean => /^(Ref)?(Switch|Merge|Enter|Exit|NextIteration)$/.test(type);
